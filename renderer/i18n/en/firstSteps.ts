/** The way from a fresh computer to one's own files: first steps, set-up, teaching model, set-up settings. */
export const firstSteps = {
  'nav.start': 'First steps',
  'start.title': 'First steps',
  'start.lead':
    'VirNucPro finds viral sequences in your FASTA and FASTQ files. It computes here, or on computers that you choose; nothing is sent anywhere else.',
  'start.skip': 'Skip for now',
  'start.later': 'Later',
  'start.setUp.title': 'Set up this computer',
  'start.setUp.set_up':
    'The program computes with Python and PyTorch. It installs its own copies, once; other programs on this computer are not touched.',
  'start.setUp.repair':
    'Something has damaged the Python environment. It is rebuilt; results and models are not touched.',
  'start.setUp.go_on': 'The set-up was stopped. What was downloaded is kept; it goes on from there.',
  'start.setUp.meanwhile':
    'You may leave this page: the set-up goes on as long as the program runs. Cancelling it, or quitting the program, keeps what is downloaded.',
  'start.setUp.done': 'Ready: Python {python}, PyTorch {torch}.',
  'start.setUp.donePython': 'Ready: Python {python}.',
  'start.setUp.download': 'Download',
  'start.setUp.disk': 'Disk space',
  'start.setUp.diskOf': '{size} of {free} free',
  'start.setUp.folder': 'Goes to',
  'start.setUp.tooSmall':
    'There is too little room here. Choose a data folder on a larger disk before you begin.',
  'start.setUp.change': 'Change folder or network …',
  'start.example.title': 'Try the example',
  'start.example.text':
    'Parts of a phage among contigs of a human gut, with the bundled teaching model, which is not for research. It takes less than a minute and shows whether this computer computes what it should.',
  'start.example.wanted': 'Starts by itself as soon as the computer is set up.',
  'start.example.working': 'The example is being computed …',
  'start.example.stopped': 'The example has not been computed to its end.',
  'start.example.watch': 'Show it',
  'start.example.results': 'See its results',
  'start.model.title': 'Get a model',
  'start.model.text':
    'For your own sequences the program needs a trained model. It is downloaded once, a few gigabytes; without network, take files that you already have.',
  'start.model.which':
    'Take the 500-bp model for contigs, the 300-bp model for reads and short contigs. Both may be here; what they share is downloaded only once.',
  'start.model.done': 'Here: {names}.',
  'start.check.title': 'Check the model',
  'start.check.text':
    '260 sequences whose answer is known show whether the model tells viruses from hosts on this computer.',
  'start.files.title': 'Your own files',
  'start.files.later':
    'Drop FASTA or FASTQ files, press Start, and get a table that says which sequences look viral.',
  'start.files.text': 'Everything is ready. Drop files anywhere on this window, or choose them.',
  'start.files.withoutModel':
    'You can add files and look into them now. A run with real results needs a model; step 3 stays open until there is one.',

  'setUp.size': '{size}, about {time}',
  'setUp.start': 'Set up',
  'setUp.repair': 'Repair',
  'setUp.goOn': 'Continue',
  'setUp.show': 'Show progress',
  'setUp.toSettings': 'Open Settings',
  'setUp.absent': 'Python is not set up yet.',
  'setUp.absentText': 'The program installs its own copy:',
  'setUp.broken': 'The Python environment is damaged.',
  'setUp.brokenText': 'It can be rebuilt:',
  'setUp.cancelled': 'The set-up was stopped.',
  'setUp.kept': 'What was downloaded is kept.',
  'setUp.working': 'This computer is being set up.',
  'setUp.afterwards': 'Shown as soon as Python is set up.',
  'setUp.elapsed': '{time} so far',
  'setUp.left': 'about {time} left',
  'setUp.details': 'Technical details',

  'teaching.confirmTitle': 'Use the teaching model?',
  'teaching.confirmText':
    'It is small, was trained on 2,000 fragments, and misses far more than a published model. It serves to learn the program and to check it. The folder and all files made will be marked as not for research.',
  'teaching.confirm': 'Use the teaching model',
  'teaching.marked': 'Folder and files will be marked as not for research.',

  'modelAdvice.advised': 'advised for these files',
  'modelAdvice.long':
    'A typical sequence here has {typical}: the {length}-bp model fits, since whole chunks can be judged.',
  'modelAdvice.short':
    'A typical sequence here has {typical}: the {length}-bp model fits best; the longer model would judge most sequences on less than it was trained on.',
  'modelAdvice.too_short':
    'A typical sequence here has {typical}, less than any model was trained on. The {length}-bp model is the nearest; it can rank such reads, but single calls are weak. Contigs assembled from them can be judged much better.',

  'deviceState.finished': 'Finished',
  'startReason.not_set_up': 'Cannot start yet: Python is not set up. Your files stay listed.',
  'startReason.no_model': 'Cannot start yet: there is no model for real data.',
  'startReason.getModel': 'Get a model',
  'verdict.waiting': 'After the set-up',
  'example.works': 'The installation works.',

  'settings.setUp': 'Network and places',
  'settings.setUpHint': 'What downloads and the set-up use',
  'settings.proxy': 'Proxy',
  'settings.proxyHelp': 'Such as http://proxy.example.org:3128. Empty: the system’s setting',
  'settings.proxyWrong': 'Enter an address that begins with http://, https://, socks5:// or socks5h://.',
  'settings.certificateFile': 'Certificate file',
  'settings.certificateFileHelp':
    'PEM file of your institute’s authority, where the network inspects what passes through it',
  'settings.packageIndex': 'Package mirror',
  'settings.packageIndexHelp': 'Replaces pypi.org. Empty: pypi.org',
  'settings.packageIndexWrong': 'Enter an address that begins with http://, https:// or file://.',
  'settings.dataFolderChange': 'Data folder',
  'settings.dataFolderChangeHelp':
    'For models, the Python environment and the list of runs: up to 25 GB. Takes effect at the next start; what is in the present folder stays there',
  'settings.dataFolderNow': 'Now {folder}',
  'settings.freeThere': '{size} free there',
  'settings.moves': 'From the next start on, data are kept in {folder}.',
  'settings.movesText': 'Until then the present folder is used. What is in it stays there.',
  'settings.movesInBrowser':
    'End the program where it runs (Ctrl+C in its terminal) and start it again. Until then the present folder is used; what is in it stays there.',
  'settings.restart': 'Restart now',
  'settings.weightsMirror': 'Mirror of the model weights',
  'settings.weightsMirrorHelp':
    'An address that serves the model files by name, all in one place. Empty: where they were published',
  'settings.weightsMirrorWrong': 'Enter an address that begins with http:// or https://.',
  'settings.interpreter': 'Python interpreter',
  'settings.interpreterHelp': 'One of your own, used unchanged. Empty: the program’s own',
  'settings.choose': 'Choose',
  'settings.save': 'Save',
} as const;
