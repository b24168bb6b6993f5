import { appError, errorCodeSchema } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import type { Language } from './index.ts';

interface ErrorWords {
  readonly title?: string;
  readonly next?: string;
}

/** Where the engine's advice is to type a command, the window has a button for it. */
const ENGLISH: Readonly<Record<string, ErrorWords>> = {
  device_unknown: { next: 'Choose one of the GPUs listed under “Computing”.' },
  folder_has_run: { next: 'Open that run under Runs, or choose another folder for the results.' },
  model_unknown: { next: 'Choose one of the models listed under “Model”.' },
  model_missing: { next: 'Get the weights.' },
  model_damaged: { next: 'Get the weights again.' },
  python_broken: { next: 'Repair it: that takes a few minutes and touches no results.' },
  protocol_version: { next: 'Repair the Python environment.' },
  offline_folder_unusable: {
    next: 'Choose the folder that “Make an offline folder …” has written.',
  },
  part_failed: { title: 'These sequences could not be computed' },
  server_package_missing: { next: 'Install this program again.' },
  ssh_host_key_changed: {
    next: 'Do not connect until those who run it confirm its new key. Then remove the old one from your known hosts.',
  },
  protocol_garbage: { title: 'A device sent something unreadable' },
  worker_died: { title: 'A device stopped unexpectedly' },
  worker_load_failed: { title: 'A device could not load the model' },
  worker_silent: { title: 'A device gives no sign of life' },
  worker_stalled: { title: 'A device makes no progress' },
  usage: { title: 'This is not possible now', next: 'Reload this window and try again.' },
};

const GERMAN: Readonly<Record<string, ErrorWords>> = {
  connection_lost: {
    title: 'Keine Verbindung zum Programm',
    next: 'Warten Sie, bis die Verbindung wieder da ist, und versuchen Sie es dann erneut.',
  },
  input_not_found: {
    title: 'Datei nicht gefunden',
    next: 'Prüfen Sie den Pfad, oder legen Sie die Datei noch einmal ab.',
  },
  input_unreadable: {
    title: 'Datei nicht lesbar',
    next: 'Prüfen Sie, ob Sie diese Datei lesen dürfen und ob der Datenträger angeschlossen ist.',
  },
  input_truncated: {
    title: 'Datei ist abgeschnitten',
    next: 'Die gepackte Datei endet zu früh. Kopieren oder laden Sie sie noch einmal.',
  },
  not_sequence_file: {
    title: 'Keine FASTA- oder FASTQ-Datei',
    next: 'Wählen Sie eine Datei mit Sequenzen in FASTA oder FASTQ.',
  },
  not_compressed: {
    title: 'Datei ist nicht gepackt, wie ihr Name es sagt, und keine FASTA- oder FASTQ-Datei',
    next: 'Laden oder kopieren Sie sie noch einmal, oder wählen Sie die gemeinte Datei.',
  },
  input_changed: {
    title: 'Eingabedatei hat sich geändert',
    next: 'Stellen Sie die ursprüngliche Datei wieder her und setzen Sie fort, oder beginnen Sie mit der geänderten einen neuen Lauf.',
  },
  sample_sheet: {
    title: 'Das Probenblatt hat einen Fehler',
    next: 'Beheben Sie ihn, und fügen Sie es noch einmal hinzu.',
  },
  no_sequences: {
    title: 'Keine Sequenzen gefunden',
    next: 'Wählen Sie eine Datei mit mindestens einer Sequenz.',
  },
  folder_not_ours: {
    title: 'Ordner ist nicht leer',
    next: 'Wählen Sie einen leeren Ordner oder einen neuen Namen für die Ergebnisse.',
  },
  folder_has_run: {
    title: 'Ordner enthält schon einen Lauf',
    next: 'Öffnen Sie diesen Lauf unter „Läufe“, oder wählen Sie einen anderen Ordner.',
  },
  folder_not_a_run: {
    title: 'Kein Ordner eines Laufs',
    next: 'Wählen Sie einen Ordner, der eine run.db dieses Programms enthält.',
  },
  folder_unwritable: {
    title: 'Ordner nicht beschreibbar',
    next: 'Wählen Sie einen anderen Ordner, oder bitten Sie um Schreibrechte.',
  },
  results_missing: {
    title: 'Ergebnisdateien fehlen',
    next: 'Sehen Sie in run.log nach dem Grund, beheben Sie ihn, und setzen Sie fort: Nur die Ergebnisse werden neu geschrieben.',
  },
  shares_missing: {
    title: 'Der Lauf ist nicht zu Ende berechnet',
    next: 'Berechnen Sie die fehlenden Anteile und schließen Sie den Lauf dann ab.',
  },
  folder_gone: {
    title: 'Ergebnisordner ist weg',
    next: 'Schließen Sie den Datenträger wieder an oder legen Sie den Ordner zurück, und setzen Sie dann fort.',
  },
  legacy_unusable: {
    title: 'Der frühere Lauf kann nicht übernommen werden',
    next: 'Prüfen Sie seinen Ordner und seine Eingabe, oder beginnen Sie einen gewöhnlichen Lauf.',
  },
  folder_unsafe: {
    title: 'Ordner enthält Verknüpfungen oder besondere Dateien',
    next: 'Legen Sie die Dateien selbst an deren Stelle: Eine Verknüpfung könnte zu anderen Ihrer Dateien führen. Oder beginnen Sie neu.',
  },
  run_locked: {
    title: 'Lauf ist anderswo offen',
    next: 'Schließen Sie ihn dort zuerst. Nur ein Programm darf an einem Lauf arbeiten.',
  },
  run_too_new: {
    title: 'Lauf stammt von einer neueren Version',
    next: 'Aktualisieren Sie dieses Programm und öffnen Sie den Lauf dann wieder.',
  },
  run_damaged: {
    title: 'Datenbank des Laufs ist beschädigt',
    next: 'Beginnen Sie in einem anderen Ordner neu; die Eingaben sind unverändert.',
  },
  disk_full: {
    title: 'Datenträger ist voll',
    next: 'Schaffen Sie Platz auf diesem Datenträger und setzen Sie dann fort. Alles bisher Berechnete ist erhalten.',
  },
  device_unknown: {
    title: 'Gerät nicht vorhanden',
    next: 'Wählen Sie eine der unter „Berechnung“ aufgeführten GPUs.',
  },
  device_hidden: {
    title: 'Gerät ist durch eine Umgebungsvariable verborgen',
    next: 'Heben Sie die Variable auf, oder wählen Sie eines der Geräte, die sie nennt.',
  },
  device_blocked: {
    title: 'Gerät kann noch nicht rechnen',
    next: 'Installieren Sie, was fehlt (siehe Grund), oder wählen Sie ein anderes Gerät.',
  },
  no_usable_device: {
    title: 'Kein Gerät zum Rechnen mehr da',
    next: 'Prüfen Sie die Geräte und setzen Sie dann fort. Alles Berechnete ist erhalten.',
  },
  precision_unsupported: {
    title: 'Zahlenformat nicht unterstützt',
    next: 'Wählen Sie ein anderes Zahlenformat, oder lassen Sie dieses Gerät weg.',
  },
  model_unknown: {
    title: 'Modell nicht vorhanden',
    next: 'Wählen Sie eines der unter „Modell“ aufgeführten Modelle.',
  },
  model_missing: { title: 'Modellgewichte fehlen', next: 'Holen Sie die Gewichte.' },
  model_damaged: {
    title: 'Modellgewichte sind beschädigt',
    next: 'Holen Sie die Gewichte noch einmal.',
  },
  download_failed: {
    title: 'Der Download ist gescheitert',
    next: 'Versuchen Sie es später noch einmal. Was schon da ist, ist erhalten.',
  },
  import_refused: {
    title: 'Diese Dateien lassen sich nicht importieren',
    next: 'Wählen Sie andere Dateien, oder ergänzen Sie, was fehlt.',
  },
  weights_busy: {
    title: 'Gewichte werden gerade geholt oder importiert',
    next: 'Warten Sie, bis das zu Ende ist, oder halten Sie es an.',
  },
  cluster_failed: {
    title: 'Der Cluster lässt sich nicht benutzen',
    next: 'Lesen Sie die Einzelheiten, und setzen Sie dann fort.',
  },
  cluster_lost: {
    title: 'Die Verbindung zum Cluster endete',
    next: 'Sie wird von selbst neu aufgebaut. Kommt es öfter vor, sehen Sie in das Log.',
  },
  computer_unsupported: {
    title: 'Dieser Rechner kann nicht rechnen',
    next: 'Verwenden Sie einen anderen Rechner.',
  },
  network_unreachable: {
    title: 'Keine Verbindung zum Internet',
    next: 'Prüfen Sie das Netzwerk, und versuchen Sie es dann erneut.',
  },
  network_proxy: {
    title: 'Der Proxy antwortet nicht',
    next: 'Berichtigen Sie den Proxy unter „Einstellungen“, und versuchen Sie es dann erneut.',
  },
  network_blocked: {
    title: 'Das Netzwerk verweigert den Download',
    next: 'Tragen Sie unter „Einstellungen“ einen Proxy oder einen Spiegelserver ein, oder fragen Sie, wer das Netzwerk betreut.',
  },
  network_certificate: {
    title: 'Das Netzwerk zeigt ein unbekanntes Zertifikat',
    next: 'Wählen Sie unter „Einstellungen“ die Zertifikatsdatei Ihres Netzwerks, und versuchen Sie es dann erneut.',
  },
  ssh_missing: {
    title: 'Hier gibt es kein SSH-Programm',
    next: 'Installieren Sie den OpenSSH-Client, und versuchen Sie es dann erneut.',
  },
  ssh_name_unknown: {
    title: 'Dieser Rechner ist unter diesem Namen nicht bekannt',
    next: 'Prüfen Sie seinen Namen und, falls er nur von innen erreichbar ist, das VPN.',
  },
  ssh_unreachable: {
    title: 'Der andere Rechner antwortet nicht',
    next: 'Prüfen Sie, ob er eingeschaltet ist, und das Netzwerk oder VPN, und versuchen Sie es dann erneut.',
  },
  ssh_denied: {
    title: 'Der andere Rechner verweigert die Anmeldung',
    next: 'Prüfen Sie den Benutzernamen und Ihren Schlüssel oder Ihr Passwort: „ssh“ mit dieser Adresse muss auch in einem Terminal gelingen.',
  },
  ssh_host_key_changed: {
    title: 'Der andere Rechner hat einen anderen Schlüssel als früher',
    next: 'Verbinden Sie nicht, bevor seine Betreuer den neuen Schlüssel bestätigen. Nehmen Sie dann den alten aus Ihren bekannten Rechnern.',
  },
  ssh_host_key_refused: {
    title: 'Der Schlüssel des anderen Rechners wurde nicht bestätigt',
    next: 'Fragen Sie seine Betreuer nach dem Fingerabdruck, und verbinden Sie dann noch einmal.',
  },
  ssh_lost: {
    title: 'Die Verbindung zum anderen Rechner ist abgebrochen',
    next: 'Warten Sie: Sie wird von selbst wieder aufgebaut. Was dort rechnet, rechnet weiter.',
  },
  ssh_failed: {
    title: 'Die Verbindung zum anderen Rechner ist gescheitert',
    next: 'Sehen Sie nach, ob „ssh“ mit dieser Adresse in einem Terminal gelingt.',
  },
  computer_unfit: {
    title: 'Der andere Rechner ist nicht benutzbar',
    next: 'Wählen Sie einen anderen Rechner.',
  },
  server_package_missing: {
    title: 'Was auf anderen Rechnern installiert wird, fehlt hier',
    next: 'Installieren Sie dieses Programm noch einmal.',
  },
  server_not_started: {
    title: 'VirNucPro konnte auf dem anderen Rechner nicht gestartet werden',
    next: 'Lesen Sie die Einzelheiten, und verbinden Sie dann noch einmal.',
  },
  server_other_version: {
    title: 'Auf dem anderen Rechner rechnet eine andere Version',
    next: 'Warten Sie, bis deren Lauf zu Ende ist, und verbinden Sie dann noch einmal.',
  },
  transfer_failed: {
    title: 'Die Datei wurde nicht übertragen',
    next: 'Versuchen Sie es noch einmal.',
  },
  offline_folder_unusable: {
    title: 'Kein Ordner zum Einrichten',
    next: 'Wählen Sie den Ordner, den „Offline-Ordner packen …“ geschrieben hat.',
  },
  python_missing: {
    title: 'Python nicht gefunden',
    next: 'Installieren Sie Python von python.org, und prüfen Sie dann noch einmal.',
  },
  python_broken: {
    title: 'Python-Umgebung nicht benutzbar',
    next: 'Reparieren Sie sie: Das dauert einige Minuten und berührt keine Ergebnisse.',
  },
  worker_died: {
    title: 'Ein Gerät ist unerwartet ausgefallen',
    next: 'Es startet von selbst neu. Kommt es öfter vor, sehen Sie in sein Log.',
  },
  worker_silent: {
    title: 'Ein Gerät gibt kein Lebenszeichen',
    next: 'Es startet von selbst neu. Kommt es öfter vor, sehen Sie in sein Log.',
  },
  worker_stalled: {
    title: 'Ein Gerät kommt nicht voran',
    next: 'Es startet von selbst neu. Kommt es öfter vor, sehen Sie in sein Log.',
  },
  protocol_garbage: {
    title: 'Ein Gerät sandte Unlesbares',
    next: 'Es startet von selbst neu. Sehen Sie in sein Log.',
  },
  protocol_version: {
    title: 'Programm und Python-Teil passen nicht zusammen',
    next: 'Reparieren Sie die Python-Umgebung.',
  },
  worker_load_failed: {
    title: 'Ein Gerät konnte das Modell nicht laden',
    next: 'Lesen Sie die Einzelheiten, und setzen Sie dann fort.',
  },
  device_switched_off: {
    title: 'Gerät abgeschaltet',
    next: 'Die anderen Geräte rechnen weiter. Den Grund nennt sein Log.',
  },
  part_failed: {
    title: 'Diese Sequenzen konnten nicht berechnet werden',
    next: 'Wiederholen Sie es. Scheitert es erneut, stehen sie namentlich in den Ergebnissen.',
  },
  prepare_failed: {
    title: 'Lesen der Eingabe gescheitert',
    next: 'Lesen Sie die Einzelheiten, und setzen Sie dann fort.',
  },
  usage: {
    title: 'Das geht gerade nicht',
    next: 'Laden Sie dieses Fenster neu und versuchen Sie es noch einmal.',
  },
  internal: {
    title: 'Unerwarteter Fehler',
    next: 'Kopieren Sie die Diagnose und melden Sie ihn. Der Lauf kann fortgesetzt werden.',
  },
};

const WORDS: Readonly<Record<Language, typeof ENGLISH>> = { en: ENGLISH, de: GERMAN };

/**
 * Title and next step as the window says them. A next step that the engine wrote for this very case stays as it is where the
 * engine's language is the window's; one with a key is said by its key, elsewhere.
 */
export function errorWords(error: ShownError, language: Language): { title: string; next: string } {
  const words = WORDS[language][error.code];
  const isGeneral =
    language !== 'en' || error.nextStep === generalNextStep(error.code) || speaksOfCommands(error.nextStep);
  return {
    title: words?.title ?? error.title,
    next: (isGeneral ? words?.next : undefined) ?? error.nextStep,
  };
}

const speaksOfCommands = (text: string) => /"virnucpro |(^|\s)--[a-z]/.test(text);

function generalNextStep(code: ShownError['code']): string | null {
  const known = errorCodeSchema.safeParse(code);
  return known.success ? appError(known.data, '').nextStep : null;
}

/** The title of an error as this window has it. */
export function titleOfCode(code: string, language: Language): string | null {
  const known = errorCodeSchema.safeParse(code);
  return known.success ? errorWords(appError(known.data, ''), language).title : null;
}
