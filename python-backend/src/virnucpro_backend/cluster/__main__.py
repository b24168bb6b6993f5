"""Starts a pool's process: `python -m virnucpro_backend.cluster`."""

from virnucpro_backend.cluster.pool import main

if __name__ == "__main__":
    main()
