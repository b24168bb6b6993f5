import type { firstSteps as english } from '../en/firstSteps.ts';

export const firstSteps: Record<keyof typeof english, string> = {
  'nav.start': 'Erste Schritte',
  'start.title': 'Erste Schritte',
  'start.lead':
    'VirNucPro findet virale Sequenzen in Ihren FASTA- und FASTQ-Dateien. Gerechnet wird hier oder auf Rechnern, die Sie wählen; sonst wird nichts verschickt.',
  'start.skip': 'Vorerst überspringen',
  'start.later': 'Später',
  'start.setUp.title': 'Diesen Rechner einrichten',
  'start.setUp.set_up':
    'Das Programm rechnet mit Python und PyTorch. Es holt sich beides selbst, einmal; andere Programme auf diesem Rechner bleiben unberührt.',
  'start.setUp.repair':
    'Die Python-Umgebung ist beschädigt. Sie wird neu angelegt; Ergebnisse und Modelle bleiben unberührt.',
  'start.setUp.go_on':
    'Das Einrichten wurde abgebrochen. Was heruntergeladen ist, bleibt; von dort geht es weiter.',
  'start.setUp.meanwhile':
    'Sie können diese Seite verlassen: Das Einrichten geht weiter, solange das Programm läuft. Beim Abbrechen und beim Beenden bleibt, was heruntergeladen ist.',
  'start.setUp.done': 'Bereit: Python {python}, PyTorch {torch}.',
  'start.setUp.donePython': 'Bereit: Python {python}.',
  'start.setUp.download': 'Herunterzuladen',
  'start.setUp.disk': 'Speicherplatz',
  'start.setUp.diskOf': '{size} von {free} frei',
  'start.setUp.folder': 'Kommt nach',
  'start.setUp.tooSmall':
    'Hier ist zu wenig Platz. Wählen Sie vorher einen Datenordner auf einem größeren Datenträger.',
  'start.setUp.change': 'Ordner oder Netz ändern …',
  'start.example.title': 'Das Beispiel ausprobieren',
  'start.example.text':
    'Stücke eines Phagen unter Contigs eines menschlichen Darms, mit dem mitgelieferten Lehrmodell, das nicht für die Forschung ist. Es dauert weniger als eine Minute und zeigt, ob dieser Rechner richtig rechnet.',
  'start.example.wanted': 'Beginnt von selbst, sobald der Rechner eingerichtet ist.',
  'start.example.working': 'Das Beispiel wird berechnet …',
  'start.example.stopped': 'Das Beispiel wurde nicht zu Ende berechnet.',
  'start.example.watch': 'Zeigen',
  'start.example.results': 'Ergebnisse ansehen',
  'start.model.title': 'Ein Modell holen',
  'start.model.text':
    'Für eigene Sequenzen braucht das Programm ein trainiertes Modell. Es wird einmal heruntergeladen, einige Gigabyte; ohne Netz nehmen Sie Dateien, die Sie schon haben.',
  'start.model.which':
    'Nehmen Sie das 500-bp-Modell für Contigs, das 300-bp-Modell für Reads und kurze Contigs. Beide dürfen da sein; was sie gemeinsam haben, wird nur einmal geladen.',
  'start.model.done': 'Vorhanden: {names}.',
  'start.check.title': 'Das Modell prüfen',
  'start.check.text':
    '260 Sequenzen, deren Antwort bekannt ist, zeigen, ob das Modell auf diesem Rechner Viren von Wirten trennt.',
  'start.files.title': 'Ihre eigenen Dateien',
  'start.files.later':
    'Legen Sie FASTA- oder FASTQ-Dateien ab, drücken Sie „Starten“, und Sie bekommen eine Tabelle, die sagt, welche Sequenzen viral aussehen.',
  'start.files.text':
    'Alles ist bereit. Legen Sie Dateien irgendwo auf diesem Fenster ab, oder wählen Sie sie.',
  'start.files.withoutModel':
    'Sie können jetzt Dateien hinzufügen und ansehen. Ein Lauf mit echten Ergebnissen braucht ein Modell; Schritt 3 bleibt offen, bis eines da ist.',

  'setUp.size': '{size}, etwa {time}',
  'setUp.start': 'Einrichten',
  'setUp.repair': 'Reparieren',
  'setUp.goOn': 'Fortsetzen',
  'setUp.show': 'Fortschritt zeigen',
  'setUp.toSettings': 'Einstellungen öffnen',
  'setUp.absent': 'Python ist noch nicht eingerichtet.',
  'setUp.absentText': 'Das Programm holt es sich selbst:',
  'setUp.broken': 'Die Python-Umgebung ist beschädigt.',
  'setUp.brokenText': 'Sie lässt sich neu anlegen:',
  'setUp.cancelled': 'Das Einrichten wurde abgebrochen.',
  'setUp.kept': 'Was heruntergeladen ist, bleibt.',
  'setUp.working': 'Dieser Rechner wird eingerichtet.',
  'setUp.afterwards': 'Erscheint, sobald Python eingerichtet ist.',
  'setUp.elapsed': 'bisher {time}',
  'setUp.left': 'noch etwa {time}',
  'setUp.details': 'Technische Einzelheiten',

  'teaching.confirmTitle': 'Das Lehrmodell verwenden?',
  'teaching.confirmText':
    'Es ist klein, an 2.000 Bruchstücken trainiert und irrt weit öfter als ein veröffentlichtes Modell. Es dient dazu, das Programm kennenzulernen und zu prüfen. Der Ordner und alle Dateien werden als nicht für die Forschung gekennzeichnet.',
  'teaching.confirm': 'Lehrmodell verwenden',
  'teaching.marked': 'Ordner und Dateien werden als nicht für die Forschung gekennzeichnet.',

  'modelAdvice.advised': 'für diese Dateien empfohlen',
  'modelAdvice.long':
    'Eine typische Sequenz hat hier {typical}: Das {length}-bp-Modell passt, da ganze Stücke beurteilt werden können.',
  'modelAdvice.short':
    'Eine typische Sequenz hat hier {typical}: Das {length}-bp-Modell passt am besten; das längere würde die meisten Sequenzen nach weniger beurteilen, als es gelernt hat.',
  'modelAdvice.too_short':
    'Eine typische Sequenz hat hier {typical}, weniger, als irgendein Modell gelernt hat. Das {length}-bp-Modell kommt am nächsten; es kann solche Reads ordnen, aber einzelne Einstufungen sind schwach. Daraus zusammengesetzte Contigs lassen sich viel besser beurteilen.',

  'deviceState.finished': 'Fertig',
  'startReason.not_set_up':
    'Noch kein Start möglich: Python ist nicht eingerichtet. Ihre Dateien bleiben in der Liste.',
  'startReason.no_model': 'Noch kein Start möglich: Es gibt noch kein Modell für echte Daten.',
  'startReason.getModel': 'Modell holen',
  'verdict.waiting': 'Nach dem Einrichten',
  'example.works': 'Die Installation funktioniert.',

  'settings.setUp': 'Netz und Orte',
  'settings.setUpHint': 'Was Downloads und das Einrichten verwenden',
  'settings.proxy': 'Proxy',
  'settings.proxyHelp': 'Etwa http://proxy.example.org:3128. Leer: wie im System eingestellt',
  'settings.proxyWrong':
    'Geben Sie eine Adresse ein, die mit http://, https://, socks5:// oder socks5h:// beginnt.',
  'settings.certificateFile': 'Zertifikatsdatei',
  'settings.certificateFileHelp':
    'PEM-Datei der Zertifizierungsstelle Ihrer Einrichtung, wo das Netz den Datenverkehr prüft',
  'settings.packageIndex': 'Paketspiegel',
  'settings.packageIndexHelp': 'Ersetzt pypi.org. Leer: pypi.org',
  'settings.packageIndexWrong': 'Geben Sie eine Adresse ein, die mit http://, https:// oder file:// beginnt.',
  'settings.dataFolderChange': 'Datenordner',
  'settings.dataFolderChangeHelp':
    'Für Modelle, Python-Umgebung und Liste der Läufe: bis zu 25 GB. Gilt ab dem nächsten Start; was im jetzigen Ordner liegt, bleibt dort',
  'settings.dataFolderNow': 'Jetzt {folder}',
  'settings.freeThere': '{size} dort frei',
  'settings.moves': 'Ab dem nächsten Start liegen die Daten in {folder}.',
  'settings.movesText': 'Bis dahin gilt der jetzige Ordner. Was in ihm liegt, bleibt dort.',
  'settings.movesInBrowser':
    'Beenden Sie das Programm dort, wo es läuft (Strg+C in seinem Terminal), und starten Sie es neu. Bis dahin gilt der jetzige Ordner; was in ihm liegt, bleibt dort.',
  'settings.restart': 'Jetzt neu starten',
  'settings.weightsMirror': 'Spiegel der Modelldateien',
  'settings.weightsMirrorHelp':
    'Eine Adresse, unter der die Dateien der Modelle mit ihren Namen nebeneinander liegen. Leer: wo sie veröffentlicht wurden',
  'settings.weightsMirrorWrong': 'Geben Sie eine Adresse ein, die mit http:// oder https:// beginnt.',
  'settings.interpreter': 'Python-Interpreter',
  'settings.interpreterHelp': 'Ein eigener, so verwendet, wie er ist. Leer: der des Programms',
  'settings.choose': 'Wählen',
  'settings.save': 'Sichern',
};
