"""``python -m morphgraph`` is the command line."""

from morphgraph.cli import main

if __name__ == "__main__":
    main()
