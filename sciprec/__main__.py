"""`python -m sciprec` is the command `sciprec`."""

from sciprec.cli.commands import main

if __name__ == "__main__":
    main()
