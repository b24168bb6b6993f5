#!/bin/sh
# Stands in for the Python interpreter: the real backend, with one fault built in (see faulty.py).
exec "$VIRNUCPRO_REAL_PYTHON" "$(dirname "$0")/faulty.py" "$@"
