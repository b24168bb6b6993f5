"""Inputs for benchmarks: seeded reads and contigs, sampled from given FASTA files with substitutions."""
