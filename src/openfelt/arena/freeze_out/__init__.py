"""Freeze-outs: heads-up hold'em with stacks that can run out."""
