"""Where finished work is handed over: one module per forge."""
