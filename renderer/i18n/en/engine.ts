import { MESSAGES } from '../../../electron/contract/messages.ts';

type EngineKey = `engine.${keyof typeof MESSAGES}`;

/** Where a window has words of its own: it names its buttons and screens instead of commands, and leaves out what its user does not see. */
export const IN_THE_WINDOW = {
  'engine.phase.running': 'Computing began.',
  'engine.phase.pausing': 'The run is being paused.',
  'engine.phase.draining': 'The current work is being finished; then the run pauses.',
  'engine.phase.finishing': 'Everything is computed; the result files are being written.',
  'engine.phase.cancelled': 'The run was stopped.',
  'engine.note.place_not_followed':
    'This run was not made here, or it was moved: it is not sent to the cluster that it names, and computes on this computer.',
  'engine.note.interrupted': 'The run had been interrupted and goes on where it was.',
  'engine.note.retried': 'What had failed is computed again.',
  'engine.note.skipped': 'What had failed was skipped; its sequences get no score.',
  'engine.note.finished_early': 'The run is finished with what is computed; the rest gets no score.',
  'engine.note.worker': '{device} has something to report; see Technical details.',
  'engine.note.worker_failed': '{device} stopped: {cause}',
  'engine.note.worker_restarts': '{device} stopped and is started again. Nothing is lost. Reason: {cause}',
  'engine.note.smaller_batches':
    '{device} ran out of memory and goes on with less at a time. Nothing is lost.',
  'engine.note.batches_halved': 'From now on, every device takes half as much at a time.',
  'engine.note.imported':
    'Embeddings were taken over from {folder} ({tool}, computed in {precision}): ESM-2 for {esm2} and DNABERT-S for {dnabertS} of {frames} reading frames. Some of them are computed and compared all the same; scores may differ slightly from those of a run that computes all.',
  'engine.imported.unknown': 'an unknown number format',
  'engine.note.model_unchecked':
    'Whether the model tells viruses from hosts was never checked with {device}. “Check the model” under Models does.',
  'engine.note.model_fails_controls':
    'The model did not pass its last check with known sequences on {device}: see Models.',
  'engine.note.unusual_norms':
    '{frames} of {all} reading frames have embeddings of unusual size. Norms of ESM-2: {esm2}; of DNABERT-S: {dnabertS}. All are scored. Short and repetitive frames can be unusual; if many frames are, let the computer check compare the answers of this computer with known ones.',
  'engine.note.wrong_device': 'Another device computes for {device} ({found}): one GPU may be used twice.',
  'engine.note.scores_damaged': 'Some scores were damaged on the disk and are computed again.',
  'engine.note.part_failed': 'Some sequences could not be computed; see Files and failures.',
  'engine.note.part_bisected': 'Something failed again; the sequence that causes it is being searched for.',
  'engine.note.part_file_damaged': 'A working file is damaged; it is made again from your file.',
  'engine.note.uneven':
    '{device} was {percent} % slower than {other}, although both are “{name}”. It may be hot, in a narrow slot, or used by somebody else.',
  'engine.note.not_wrapped_up':
    'The tables are complete, but run.json could not be written, or working files not be removed. {cause} Mend that, then press Continue.',
  'engine.note.state_not_stored': 'The state of the run could not be stored: {cause}',
  'engine.exit.crashed': 'it crashed, often because of a driver or hardware fault',
  'engine.exit.access_violation': 'it crashed, often because of a driver or hardware fault',
  'engine.exit.heap_corruption': 'its memory was damaged',
  'engine.prepare.stopped': 'Reading the files stopped: {how}.',
  'engine.prepare.stopped.next': 'Press Continue: what was read and computed so far is kept.',
  'engine.worker.other_model.next':
    'Press “Check the files” at the model under Computer check, then Continue.',
  'engine.worker.stopped': '{how}.',
  'engine.worker.stopped_loading':
    '{how}. It happened while the device was opened or the model in {folder} was read.',
  'engine.part.out_of_memory': 'The device had too little memory.',
  'engine.part.out_of_memory.next': 'Close other programs that use the GPU, then retry with less memory.',
  'engine.part.non_finite':
    'The model gave results that are no numbers, even when computed again more exactly.',
  'engine.part.non_finite.next':
    'Retry it on another device. If it fails again, check the weights under Computer check.',
  'engine.part.part_unreadable': 'A working file is missing or damaged.',
  'engine.part.part_unreadable.next': 'Retry it: the file is made again from yours.',
  'engine.part.device_lost': 'The GPU was lost while it computed this.',
  'engine.part.internal_error': 'The program stopped while it computed this.',
  'engine.part.recalled': 'It was taken back before it was begun.',
  'engine.part.lost': 'A working file was damaged {times} times, however often it was made again.',
  'engine.part.lost.next': 'Check the disk with the results; then press Continue.',
  'engine.device.damaged': 'What it computed was damaged on the disk {times} times in a row.',
  'engine.device.damaged.next': 'Check the disk with the results, and this device; then press Continue.',
  'engine.halt.all_excluded.next': 'Press “Use again” at a device, then Continue.',
  'engine.start.folder_has_run.next': 'Choose another folder, or open that run under Runs.',
  'engine.start.outside_root': '{path} is outside of {root}, the folder that this program may use.',
  'engine.start.outside_root.next': 'Choose another folder.',
  'engine.step.looking': 'Looking at what is here …',
  'engine.step.waiting': 'Another window is setting this computer up …',
  'engine.step.python': 'Making room for Python …',
  'engine.step.packages': 'Getting the packages for computing …',
  'engine.step.pytorch': 'Getting PyTorch, the largest part …',
  'engine.step.pytorch_build': 'Getting PyTorch ({build}), the largest part …',
  'engine.step.pytorch_packages': 'Getting PyTorch and the packages for computing …',
  'engine.step.test_tools': 'Getting tools for tests …',
  'engine.step.ray': 'Getting Ray …',
  'engine.step.verifying': 'Checking that everything works …',
  'engine.step.devices': 'Computing on every device for a test …',
  'engine.step.folder': 'Checking the files of the folder …',
  'engine.step.weights': 'Copying the models …',
  'engine.step.get_installer': 'Getting the installer …',
  'engine.step.get_python': 'Getting Python {version} …',
  'engine.step.get_packages': 'Getting the packages for computing …',
  'engine.step.get_pytorch': 'Getting PyTorch ({build}), the largest part …',
  'engine.step.checksums': 'Writing checksums …',
  'engine.slurm.pytorch.next':
    'Have the tasks compute on processors, or choose under Settings a Python interpreter whose PyTorch is for the GPUs of the cluster.',
  'engine.offline.other':
    'In {folder} there is no {list}: it was not packed for setting up without a network.',
  'engine.offline.unfinished.next': 'Make it again into the same folder: it goes on where it stopped.',
  'engine.offline.damaged.next': 'Copy the folder again, or make it again.',
  'engine.offline.platform.next': 'On a computer with a network, make an offline folder for {here}.',
  'engine.offline.version': 'This folder was made by version {version}, which uses other packages.',
  'engine.offline.version.next':
    'On a computer with a network, make an offline folder with the version that is used here.',
  'engine.ssh.missing': 'No program “ssh” was found on this computer.',
  'engine.ssh.host_key_unknown.next':
    'Sign in with “ssh” and this address in a terminal once and confirm the key there, then connect again.',
  'engine.computer.no_answer.next':
    'Check that commands can be run there: “ssh” with this address and “uname -a” must print a line.',
  'engine.run.nothing_failed': 'Nothing has failed that could be retried.',
  'engine.run.impossible': 'This cannot be done with the run as it is now.',
  'engine.run.no_request.next': 'Its tables can be read in its folder. Or start a new run on its files.',
  'engine.original.is_compared.next':
    'Drop it on the results, or choose it under “Compare with another run …”.',
  'engine.table.too_large.next':
    'Remove a table, or choose one with fewer lines, such as only those called virus.',
  'engine.place.trouble.next':
    'Check that it is connected, and that neither it nor your quota is full; then press Continue.',
  'engine.note.rows_damaged': 'Some stored results were damaged on the disk and are computed again.',
  'engine.input.folder_unreadable.next':
    'Check that you may read this folder, or choose the files themselves.',
  'engine.model.unknown': 'There is no model “{model}”, and no folder or file of that name.',
  'engine.log.none': 'There is no log of it yet.',
  'engine.log.none.next': 'It appears when the computing starts.',
  'engine.check.driver.amd': 'AMD’s driver of this Linux kernel.',
  'engine.check.gpu.apple':
    'An Apple GPU. This program was never tested on one: compare a few results with those of the processor.',
  'engine.check.gpu.amd_untested':
    'AMD GPUs were never tested with this program: compare a few results with those of the processor.',
  'engine.check.gpu.integrated': '{name} is part of the processor: it computes only if you choose it.',
  'engine.check.gpu.streamed':
    'With less than {all} free, a GPU computes more slowly, as the model stays in main memory. The results are the same.',
  'engine.check.disk.little': 'Only {free} free; weights and working files need about {needed}.',
  'engine.check.computing.right': '{device} ({precisions}): all results agree with the processor’s in FP32.',
  'engine.check.computing.differs':
    'The results differ by {difference} from the processor’s; {allowed} is allowed.',
  'engine.blocked.pytorch_cuda.next':
    'Repair the Python environment; one of your own needs PyTorch for CUDA.',
  'engine.blocked.pytorch_rocm.next':
    'On Linux, repair the Python environment: without an NVIDIA driver here it gets PyTorch for ROCm. Or choose an interpreter of your own that has it, under Settings.',
  'engine.blocked.architecture.next':
    'Repair the Python environment: it gets the PyTorch that most GPUs of this computer can use.',
  'engine.blocked.driver.next':
    'Update NVIDIA’s driver, or repair the Python environment: it gets the PyTorch for the driver that is here.',
  'engine.blocked.permission.next': 'Add the account to the groups “render” and “video”, and log in again.',
  'engine.python.no_backend': '{interpreter} cannot run this program’s Python part.',
  'engine.python.outdated': 'The Python packages are those of another version of this program.',
  'engine.model.lacks': 'The model “{model}” lacks {path}.',
} as const satisfies Partial<Record<EngineKey, string>>;

/** What Python says by codes of its own. */
const FROM_PYTHON = {
  'engine.no_gpu.package_missing':
    'The package that asks the NVIDIA driver about GPUs is missing: repair the Python environment.',
  'engine.no_gpu.no_driver':
    'No NVIDIA driver is installed. On a computer without an NVIDIA GPU that is normal.',
  'engine.no_gpu.driver_not_running':
    'NVIDIA software is installed, but its driver is not running. Either this computer has no NVIDIA GPU or the driver must be installed again.',
  'engine.no_gpu.restart_needed':
    'The NVIDIA driver was updated and the computer has not been restarted since. Restart it.',
  'engine.no_gpu.no_permission': 'This user account is not allowed to talk to the NVIDIA driver.',
  'engine.no_gpu.no_answer': 'The NVIDIA driver does not answer.',
  'engine.no_gpu.no_gpu_answers': 'The NVIDIA driver is running but finds no GPU that answers.',
  'engine.problem.empty': 'Empty sequences: {count, number}.',
  'engine.problem.invalid_characters':
    'Sequences with non-letter characters (such as control characters or accents): {count, number}.',
  'engine.problem.malformed_record': 'Damaged or incomplete records: {count, number}.',
  'engine.problem.duplicate_ids': 'Sequences with a name that an earlier sequence has too: {count, number}.',
  'engine.problem.ids_not_compared':
    'Names not checked for duplicates, because there are too many: {count, number}.',
  'engine.problem.ambiguous_bases': 'Sequences with letters other than A, C, G and T: {count, number}.',
  'engine.problem.lower_case': 'Sequences with lower-case letters: {count, number}.',
  'engine.problem.no_sequences': 'The file holds no sequences.',
  'engine.problem.looks_like_protein': 'The letters are those of proteins, not of DNA.',
  'engine.problem.looks_like_rna': 'The sequences are written as RNA, with U instead of T.',
  'engine.problem.empty.effect': 'They are listed as not scored, with this reason.',
  'engine.problem.invalid_characters.effect':
    'They are listed as not scored, with this reason; all others are scored.',
  'engine.problem.malformed_record.effect':
    'They are listed as not scored, with this reason; reading goes on with the next record.',
  'engine.problem.duplicate_ids.effect':
    'Names end at the first blank. All sequences are scored and kept apart by their place in the file.',
  'engine.problem.ids_not_compared.effect':
    'All sequences are scored and kept apart by their place in the file.',
  'engine.problem.ambiguous_bases.effect':
    'A codon with such a letter is skipped in the protein, as in the original tool.',
  'engine.problem.lower_case.effect': 'They are read as upper case; masking is ignored.',
  'engine.problem.no_sequences.effect': 'The results have no rows of this file.',
  'engine.problem.looks_like_protein.short': 'Proteins, not DNA',
  'engine.problem.looks_like_protein.effect': 'Proteins can’t be scored: choose the nucleotide sequences.',
  'engine.problem.looks_like_rna.effect': 'Codons with U are skipped, so hardly anything would be scored.',
  'engine.problem.looks_like_alignment': 'The sequences are aligned, with gaps (- or .).',
  'engine.problem.looks_like_alignment.effect':
    'Gaps are read as unknown letters and shift the reading frames.',
  'engine.problem.kind.alignment_map': 'Alignments (SAM, BAM or CRAM), no plain reads.',
  'engine.problem.kind.alignment_map.effect': 'Convert it with samtools fastq, then drop the FASTQ file.',
  'engine.problem.kind.genbank': 'A GenBank file.',
  'engine.problem.kind.genbank.effect':
    'Download or export the same sequences as FASTA: in NCBI “Send to”, File, Format FASTA.',
  'engine.problem.kind.embl': 'An EMBL file.',
  'engine.problem.kind.embl.effect': 'Download or export the same sequences as FASTA.',
  'engine.problem.kind.gff': 'An annotation (GFF), without the sequences.',
  'engine.problem.kind.gff.effect': 'Drop the FASTA file that it describes.',
  'engine.problem.kind.vcf': 'Variants (VCF), without the sequences.',
  'engine.problem.kind.vcf.effect': 'Drop the FASTA file that they were called from.',
  'engine.problem.kind.excel': 'An Excel workbook.',
  'engine.problem.kind.excel.effect':
    'Copy the sequences into a plain text file, each below a line of > and its name.',
  'engine.problem.kind.word': 'A Word document.',
  'engine.problem.kind.word.effect':
    'In Word, save it as plain text (.txt); each sequence stands below a line of > and its name.',
  'engine.problem.kind.old_office': 'An old Word or Excel file.',
  'engine.problem.kind.old_office.effect':
    'Save the sequences as plain text, each below a line of > and its name.',
  'engine.problem.kind.rtf': 'A formatted document (RTF).',
  'engine.problem.kind.rtf.effect':
    'Save it as plain text (.txt); each sequence stands below a line of > and its name.',
  'engine.problem.kind.archive': 'An archive.',
  'engine.problem.kind.archive.effect': 'Unpack it and drop the FASTA or FASTQ files in it.',
  'engine.problem.kind.compressed_twice': 'Compressed twice.',
  'engine.problem.kind.compressed_twice.effect': 'Unpack it once and drop the result.',
  'engine.problem.kind.fast5': 'Raw signals (FAST5).',
  'engine.problem.kind.fast5.effect': 'Basecall them first, then drop the FASTQ file.',
  'engine.problem.kind.pdf': 'A PDF document.',
  'engine.problem.kind.pdf.effect': 'Sequences cannot be read from it: drop a FASTA or FASTQ file.',
  'engine.problem.kind.utf16': 'Text in UTF-16.',
  'engine.problem.kind.utf16.effect': 'Save it again as plain text (UTF-8).',
  'engine.problem.kind.web_page': 'A web page.',
  'engine.problem.kind.web_page.effect': 'Download the sequences themselves as FASTA.',
  'engine.problem.kind.table': 'A table.',
  'engine.problem.kind.table.effect':
    'A table of another tool, such as geNomad’s, is dropped on the results of a run.',
} as const;

/** What the engine says by key. Most of it stands in the contract only. */
export const engine = {
  ...(Object.fromEntries(Object.entries(MESSAGES).map(([key, text]) => [`engine.${key}`, text])) as Record<
    EngineKey,
    string
  >),
  ...IN_THE_WINDOW,
  ...FROM_PYTHON,
};
