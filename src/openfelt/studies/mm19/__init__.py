"""Mac Manus 2019 (MM19)."""
