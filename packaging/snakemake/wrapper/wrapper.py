"""Snakemake wrapper for virnucpro predict."""

__license__ = "MIT"

from pathlib import Path

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")  # noqa: F821
log = snakemake.log_fmt_shell(stdout=True, stderr=True)  # noqa: F821
folder = Path(snakemake.output.sequences).parent  # noqa: F821
if Path(snakemake.output.sequences).name != "sequences.tsv":  # noqa: F821
    raise ValueError("the output sequences must be called sequences.tsv, in a folder for the run")

# Exit code 2: done, but some sequences failed. --resume continues a run that was killed.
shell("virnucpro predict {snakemake.input:q} --output-dir {folder:q} --resume {extra} {log} || [ $? -eq 2 ]")
