"""The model proxy."""
