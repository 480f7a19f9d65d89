"""How finished work is delivered: branch, pull request, text."""
