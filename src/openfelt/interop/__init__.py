"""Adapters to other libraries; each needs an extra of its own."""
