"""Where finished work is delivered: one module per forge."""
