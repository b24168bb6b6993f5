"""From blocks of bytes to records: which format a file has, and where its records and letters are."""
