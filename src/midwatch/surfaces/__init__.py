"""Where people and programs meet the house: the command line, the API; pages follow."""
