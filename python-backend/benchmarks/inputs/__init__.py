"""Makes benchmark inputs: seeded reads and contigs, sampled from FASTA files with substitutions."""
