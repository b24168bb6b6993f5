"""Workers as the tasks of a SLURM job, through files on a shared file system."""
