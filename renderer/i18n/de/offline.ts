import type { offline as english } from '../en/offline.ts';

export const offline: Record<keyof typeof english, string> = {
  'offline.title': 'Ohne Netz',
  'offline.text':
    'Ein Rechner mit Netz packt einen Ordner: Python, die Pakete und Modelle. Ein anderer Rechner richtet sich daraus ein und lädt nichts herunter.',
  'offline.use': 'Aus Offline-Ordner einrichten …',
  'offline.make': 'Offline-Ordner packen …',
  'offline.makeAfterwards': 'Ein Ordner lässt sich packen, sobald Python hier eingerichtet ist.',
  'offline.useTitle': 'Aus diesem Ordner einrichten?',
  'offline.contents': 'Er enthält {bytes}: {what}.',
  'offline.python': 'Python {version}',
  'offline.noPython': 'kein Python (dieser Rechner muss es haben)',
  'offline.pytorch': 'PyTorch ({build}) mit seinen Paketen',
  'offline.noModels': 'keine Modelle',
  'offline.nothingFetched':
    'Zuerst wird jede Datei mit ihrer Prüfsumme verglichen. Nichts wird heruntergeladen. Was der Ordner enthält, läuft danach auf diesem Rechner: Nehmen Sie nur einen Ordner von jemandem, dem Sie vertrauen.',
  'offline.another': 'Anderen Ordner wählen',
  'offline.isOther':
    'Nichts in diesem Ordner sagt, dass er zum Einrichten gepackt wurde. Wählen Sie den Ordner selbst, keinen darüber oder darin.',
  'offline.change': 'Ändern …',
  'offline.setUp': 'Einrichten',
  'offline.browserDrop':
    'Ein Browser sagt nicht, wo ein abgelegter Ordner liegt. Wählen Sie den Ordner auf {place} hier.',
  'offline.packTitle': 'Offline-Ordner packen',
  'offline.platform': 'System',
  'offline.platform.linux-x64': 'Linux, x64',
  'offline.platform.linux-arm64': 'Linux, ARM',
  'offline.platform.darwin-arm64': 'macOS, Apple-Chip',
  'offline.platform.win32-x64': 'Windows, x64',
  'offline.gpu': 'Grafikkarte',
  'offline.gpu.nvidia': 'NVIDIA, Treiber ab 580',
  'offline.gpu.nvidia_older': 'NVIDIA, ältere Karte oder älterer Treiber',
  'offline.gpu.amd': 'AMD',
  'offline.gpu.apple': 'Apple',
  'offline.gpu.none': 'Keine',
  'offline.pythonChoice': 'Python',
  'offline.pythonHelp':
    'Python kommt als Einziges von GitHub. Wo das gesperrt ist, packen Sie für ein Python, das der andere Rechner hat.',
  'offline.takePython': 'Mitnehmen',
  'offline.pythonThere': 'Python {version} ist dort',
  'offline.models': 'Modelle, die mitkommen',
  'offline.noneHere': 'Auf diesem Rechner ist noch kein Modell.',
  'offline.folder': 'Zielordner',
  'offline.folderHelp': 'Ein leerer, etwa auf einem Speicherstick',
  'offline.size': '{download} herunterzuladen, {copy} Modelle zu kopieren',
  'offline.sizeUnknown': 'Wie viel herunterzuladen ist, zeigt sich zu Beginn; {copy} Modelle zu kopieren',
  'offline.pack': 'Ordner packen',
  'offline.packing': 'Packt {folder}',
  'offline.cancelKeeps': 'Was gepackt ist, bleibt im Ordner: Ein neuer Versuch geht dort weiter.',
  'offline.packed': 'Der Ordner ist fertig',
  'offline.packedText':
    'Bringen Sie {folder} zum anderen Rechner, starten Sie dort dieses Programm und wählen Sie „Aus Offline-Ordner einrichten …“, oder legen Sie den Ordner auf dem Fenster ab.',
} as const;
