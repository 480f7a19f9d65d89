"""`python -m midwatch` is the command line."""

from midwatch.surfaces.cli.main import main

main()
