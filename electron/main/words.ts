/** What the desktop shows outside the page, in the languages of the window. */
import type { FilePurpose, FolderPurpose } from '../contract/index.ts';
import type { Settings } from '../contract/rpc/computer.ts';

const EN = {
  menu: {
    file: 'File',
    edit: 'Edit',
    view: 'View',
    window: 'Window',
    help: 'Help',
    log: 'Show the Log',
    quit: 'Quit',
    close: 'Close Window',
    undo: 'Undo',
    redo: 'Redo',
    cut: 'Cut',
    copy: 'Copy',
    paste: 'Paste',
    selectAll: 'Select All',
    reload: 'Reload',
    resetZoom: 'Actual Size',
    zoomIn: 'Zoom In',
    zoomOut: 'Zoom Out',
    fullScreen: 'Full Screen',
    minimize: 'Minimise',
    about: 'About VirNucPro Desktop',
  },
  files: {
    sequences: 'Choose sequence files',
    weights: 'Choose files of model weights',
    tables: 'Choose tables of other tools',
    certificate: 'Choose the certificate file of your network',
    interpreter: 'Choose a Python interpreter',
  } satisfies Record<FilePurpose, string>,
  folders: {
    inputs: 'Choose a folder with sequence files',
    output: 'Choose a folder for the results',
    run: 'Choose the folder of a run',
    weights: 'Choose a folder with model weights',
    offline: 'Choose a folder that was packed for a computer without a network',
    pack: 'Choose an empty folder to pack into',
    data: 'Choose a folder for the data of this program',
  } satisfies Record<FolderPurpose, string>,
  filters: { sequences: 'Sequences', tables: 'Tables', certificates: 'Certificates', all: 'All files' },
  notice: {
    batteryTitle: 'Running on battery',
    batteryBody: 'A run takes much power. Connect the computer, or pause the run.',
    done: (name: string) => `${name} is done`,
    viral: (count: number) => `${count} ${count === 1 ? 'sequence' : 'sequences'} called virus`,
    failed: (count: number) => `${count} ${count === 1 ? 'sequence' : 'sequences'} failed`,
    resultsAreThere: 'The results are there.',
    couldNotGoOn: (name: string) => `${name} could not go on`,
    needsAttention: (name: string) => `${name} needs attention`,
  },
  close: {
    atWork: (name: string, percent: string) => `"${name}" is still at work${percent}.`,
    nothingYet: 'Its sequences are still being read, and nothing is computed yet. ',
    computed: (done: number, total: number, more: boolean) =>
      `${done} of ${total}${more ? ' or more' : ''} parts are computed and stay on the disk whatever you choose. `,
    inWork: (parts: number) =>
      `${parts === 1 ? '1 part is' : `${parts} parts are`} being computed: if you quit now, ${parts === 1 ? 'it is' : 'they are'} computed again when you go on. `,
    pauses: 'If you cancel, the program stays open, and the run pauses when the current parts are finished. ',
    background: 'Without a window the run goes on in the background; start the program again to see it.',
    keepRunning: 'Keep running without a window',
    afterParts: (minutes: string) => `Finish the current parts${minutes}, then quit`,
    about: (estimate: string) => ` (about ${estimate})`,
    now: 'Quit now',
    download: 'A download is still under way.',
    downloadDetail:
      'If you quit now, it stops. What was fetched is kept, and it goes on from there when you ask for it. ' +
      'Without a window it goes on in the background; start the program again to see it.',
    downloadGoesOn: 'Go on without a window',
  },
  trouble: {
    not_painted: { message: 'The window stays empty.', again: 'Wait' },
    keeps_ending: { message: 'The window has ended several times.', again: 'Load the window again' },
    cause: (alreadySafe: boolean) =>
      `This is most often caused by the graphics driver${alreadySafe ? ', though this is safe mode already' : ''}. `,
    safeModeDoes: 'Safe mode draws the window without the graphics card; runs use it all the same. ',
    unaffected: 'The browser shows the same pages. Runs are not affected.',
    safeMode: 'Restart in safe mode',
    browser: 'Open in the browser',
    log: 'Show the log',
  },
  browser: {
    isOpen: 'VirNucPro Desktop is open in the browser.',
    isOpenDetail: 'Its own window could not be shown. To quit, start the program again and choose Quit here.',
    notOpened: 'The browser could not be opened.',
    paste: (address: string) => `Open a browser on this computer, and paste the address there:\n${address}`,
    copy: 'Copy the address',
    back: 'Go back',
  },
  quit: 'Quit',
  cancel: 'Cancel',
};

export type Words = typeof EN;

const DE: Words = {
  menu: {
    file: 'Datei',
    edit: 'Bearbeiten',
    view: 'Ansicht',
    window: 'Fenster',
    help: 'Hilfe',
    log: 'Protokoll zeigen',
    quit: 'Beenden',
    close: 'Fenster schließen',
    undo: 'Rückgängig',
    redo: 'Wiederholen',
    cut: 'Ausschneiden',
    copy: 'Kopieren',
    paste: 'Einfügen',
    selectAll: 'Alles auswählen',
    reload: 'Neu laden',
    resetZoom: 'Originalgröße',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fullScreen: 'Vollbild',
    minimize: 'Minimieren',
    about: 'Über VirNucPro Desktop',
  },
  files: {
    sequences: 'Sequenzdateien wählen',
    weights: 'Dateien mit Modellgewichten wählen',
    tables: 'Tabellen anderer Programme wählen',
    certificate: 'Zertifikatsdatei Ihres Netzes wählen',
    interpreter: 'Python-Interpreter wählen',
  },
  folders: {
    inputs: 'Ordner mit Sequenzdateien wählen',
    output: 'Ordner für die Ergebnisse wählen',
    run: 'Ordner eines Laufs wählen',
    weights: 'Ordner mit Modellgewichten wählen',
    offline: 'Ordner wählen, der für einen Rechner ohne Netz gepackt wurde',
    pack: 'Leeren Ordner zum Packen wählen',
    data: 'Ordner für die Daten dieses Programms wählen',
  },
  filters: { sequences: 'Sequenzen', tables: 'Tabellen', certificates: 'Zertifikate', all: 'Alle Dateien' },
  notice: {
    batteryTitle: 'Der Rechner läuft auf Akku',
    batteryBody: 'Ein Lauf braucht viel Strom. Schließen Sie den Rechner an, oder halten Sie den Lauf an.',
    done: (name) => `${name} ist fertig`,
    viral: (count) => `${count} ${count === 1 ? 'Sequenz' : 'Sequenzen'} als Virus eingestuft`,
    failed: (count) => `${count} ${count === 1 ? 'Sequenz' : 'Sequenzen'} fehlgeschlagen`,
    resultsAreThere: 'Die Ergebnisse sind da.',
    couldNotGoOn: (name) => `${name} konnte nicht weitergehen`,
    needsAttention: (name) => `${name} braucht Sie`,
  },
  close: {
    atWork: (name, percent) => `„${name}“ läuft noch${percent}.`,
    nothingYet: 'Die Sequenzen werden noch gelesen, berechnet ist noch nichts. ',
    computed: (done, total, more) =>
      `${done} von ${total}${more ? ' oder mehr' : ''} Teilen sind berechnet und bleiben auf der Platte, was immer Sie wählen. `,
    inWork: (parts) =>
      `${parts === 1 ? '1 Teil wird' : `${parts} Teile werden`} gerade berechnet: Wenn Sie jetzt beenden, ${parts === 1 ? 'wird er' : 'werden sie'} beim Fortsetzen noch einmal berechnet. `,
    pauses:
      'Wenn Sie abbrechen, bleibt das Programm offen, und der Lauf hält an, sobald die laufenden Teile fertig sind. ',
    background:
      'Ohne Fenster geht der Lauf im Hintergrund weiter; starten Sie das Programm wieder, um ihn zu sehen.',
    keepRunning: 'Ohne Fenster weiterlaufen lassen',
    afterParts: (minutes) => `Laufende Teile fertig berechnen${minutes}, dann beenden`,
    about: (estimate) => ` (etwa ${estimate})`,
    now: 'Jetzt beenden',
    download: 'Es wird noch heruntergeladen.',
    downloadDetail:
      'Wenn Sie jetzt beenden, hält es an. Was schon da ist, bleibt, und es geht von dort weiter, wenn Sie wollen. ' +
      'Ohne Fenster geht es im Hintergrund weiter; starten Sie das Programm wieder, um es zu sehen.',
    downloadGoesOn: 'Ohne Fenster weitermachen',
  },
  trouble: {
    not_painted: { message: 'Das Fenster bleibt leer.', again: 'Warten' },
    keeps_ending: { message: 'Das Fenster ist mehrmals abgestürzt.', again: 'Fenster neu laden' },
    cause: (alreadySafe) =>
      `Das liegt meist am Grafiktreiber${alreadySafe ? ', obwohl dies schon der abgesicherte Modus ist' : ''}. `,
    safeModeDoes: 'Im abgesicherten Modus zeichnet das Fenster ohne Grafikkarte; Läufe nutzen sie trotzdem. ',
    unaffected: 'Der Browser zeigt dieselben Seiten. Läufe sind nicht betroffen.',
    safeMode: 'Im abgesicherten Modus neu starten',
    browser: 'Im Browser öffnen',
    log: 'Protokoll zeigen',
  },
  browser: {
    isOpen: 'VirNucPro Desktop ist im Browser geöffnet.',
    isOpenDetail:
      'Sein eigenes Fenster ließ sich nicht zeigen. Zum Beenden starten Sie das Programm noch einmal und wählen hier „Beenden“.',
    notOpened: 'Der Browser ließ sich nicht öffnen.',
    paste: (address) =>
      `Öffnen Sie einen Browser auf diesem Rechner, und fügen Sie dort die Adresse ein:\n${address}`,
    copy: 'Adresse kopieren',
    back: 'Zurück',
  },
  quit: 'Beenden',
  cancel: 'Abbrechen',
};

export const WORDS: Record<Settings['language'], Words> = { en: EN, de: DE };
