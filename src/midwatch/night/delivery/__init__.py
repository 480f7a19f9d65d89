"""How finished work leaves: branch, pull request, text."""
