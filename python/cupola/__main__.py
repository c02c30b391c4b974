"""`python -m cupola run PROGRAM` and the other commands."""

from .cli import main

main()
