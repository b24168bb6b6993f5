export const engine = {
  'engine.device': '{name}',
  'engine.phase.created': 'Der Lauf wurde angelegt.',
  'engine.phase.running': 'Die Berechnung begann.',
  'engine.phase.pausing': 'Der Lauf wird angehalten.',
  'engine.phase.draining': 'Die laufende Arbeit wird beendet; dann pausiert der Lauf.',
  'engine.phase.paused': 'Der Lauf pausiert. Alles Berechnete ist erhalten.',
  'engine.phase.finishing': 'Alles ist berechnet; die Ergebnisdateien werden geschrieben.',
  'engine.phase.done': 'Der Lauf ist fertig.',
  'engine.phase.failed': 'Der Lauf konnte nicht weitergehen.',
  'engine.phase.cancelled': 'Der Lauf wurde beendet.',
  'engine.note.model_unchecked':
    'Ob das Modell Viren von Wirten trennt, wurde mit {device} nie geprüft. „Modell prüfen“ unter Modelle tut es.',
  'engine.note.model_fails_controls':
    'Das Modell hat seine letzte Prüfung mit bekannten Sequenzen auf {device} nicht bestanden: siehe Modelle.',
  'engine.note.interrupted': 'Der Lauf war unterbrochen und geht weiter, wo er war.',
  'engine.note.halted': 'Der Lauf pausiert. {title}: {cause}',
  'engine.note.place_not_followed':
    'Dieser Lauf wurde nicht hier erstellt, oder er wurde verschoben: Er geht nicht an den Cluster, den er nennt, sondern rechnet auf diesem Computer.',
  'engine.note.retried': 'Was gescheitert war, wird noch einmal berechnet.',
  'engine.note.skipped': 'Was gescheitert war, wurde übergangen; diese Sequenzen erhalten keinen Wert.',
  'engine.note.finished_early':
    'Der Lauf wird mit dem beendet, was berechnet ist; der Rest erhält keinen Wert.',
  'engine.note.worker': '{device} meldet etwas; siehe Technische Einzelheiten.',
  'engine.note.worker_failed': '{device} ist ausgefallen: {cause}',
  'engine.note.worker_restarts':
    '{device} ist ausgefallen und startet neu. Nichts ist verloren. Grund: {cause}',
  'engine.note.switched_off': '{device} wurde abgeschaltet: {cause}',
  'engine.note.excluded': '{device} wurde aus dem Lauf genommen.',
  'engine.note.included': '{device} nimmt wieder am Lauf teil.',
  'engine.note.cluster_ready': 'Der Cluster antwortet ({scheduler}).',
  'engine.note.share_ended':
    'Anteil {share} endete auf {node}, bevor er berechnet war, und wird neu eingereicht: {reason}',
  'engine.note.node_excluded':
    'Der Knoten {node} wird nicht mehr benutzt: {times} Tasks endeten dort, ohne etwas zu berechnen.',
  'engine.cluster.gave_up':
    'Anteil {share} endete {times}-mal, ohne etwas zu berechnen, zuletzt auf {node}: {reason}',
  'engine.cluster.parts_left': '{parts} Anteile lassen sich nicht zu Ende berechnen.',
  'engine.cluster.waited': 'Der Cluster hat seit {minutes} Minuten nichts berechnet. {reason}',
  'engine.cluster.waited.next':
    'Sehen Sie nach, was der Cluster zuteilen kann, und setzen Sie den Lauf dort oder auf anderen Geräten fort.',
  'engine.cluster.hopeless': 'Die Tasks würden für immer warten: {reason}.',
  'engine.cluster.hopeless.next': 'Ändern Sie, was der Job verlangt, und setzen Sie den Lauf damit fort.',
  'engine.cluster.silent': 'Der Cluster antwortet nicht.',
  'engine.cluster.ended': 'Die Verbindung zum Cluster endete: {how}.',
  'engine.share.not_prepared': '{folder} ist nicht dafür vorbereitet, in Anteilen berechnet zu werden.',
  'engine.share.not_prepared.next':
    'Bereiten Sie den Lauf erst dafür vor; danach können die Anteile berechnet werden.',
  'engine.share.list_damaged': 'Die Liste der Teile in {folder} ist nicht lesbar.',
  'engine.share.part_lost': 'In {folder} fehlen Dateien von Teilen, oder sie sind beschädigt.',
  'engine.share.part_lost.next':
    'Setzen Sie jenen Lauf fort oder bereiten Sie ihn neu vor: Dabei entstehen die Dateien aus den Eingaben neu.',
  'engine.share.busy': 'Anteil {share} wird von einem anderen Prozess berechnet ({pid} auf {host}).',
  'engine.note.share_damaged':
    '{parts} Teile des Anteils {share} sind auf dem Datenträger beschädigt und werden neu berechnet.',
  'engine.note.share_unusable': 'Anteil {share} ist nicht zu gebrauchen: {text}',
  'engine.note.shares_merged': '{parts} Teile wurden aus {shares} Anteilen übernommen.',
  'engine.note.smaller_batches':
    '{device} hatte zu wenig Speicher und rechnet mit weniger auf einmal weiter. Nichts ist verloren.',
  'engine.note.batches_halved': 'Ab jetzt rechnet jedes Gerät mit halb so viel auf einmal.',
  'engine.note.imported':
    'Embeddings wurden aus {folder} übernommen ({tool}, gerechnet in {precision}): ESM-2 für {esm2}, DNABERT-S für {dnabertS} von {frames} Leserahmen. Einige davon werden trotzdem berechnet und verglichen; Scores können leicht von denen eines Laufs abweichen, der alle berechnet.',
  'engine.imported.original': 'das ursprüngliche VirNucPro',
  'engine.imported.fork': 'die Abspaltung von VirNucPro',
  'engine.imported.unknown': 'unbekanntem Zahlenformat',
  'engine.note.input_left_out': '{path} ist nicht Teil des Laufs: {text}',
  'engine.note.gpu_left_out': 'Eine GPU nimmt nicht teil. {cause} {next}',
  'engine.note.old_gpu_left_out':
    '{gpus} nimmt nicht teil: Schnell ist sie nur in FP32, alle Geräte eines Laufs rechnen aber in derselben Genauigkeit, und die anderen GPUs wären in dieser um ein Mehrfaches langsamer. Soll sie trotzdem mitrechnen, wählen Sie die Geräte einzeln aus.',
  'engine.note.processor_instead': 'Es rechnet der Prozessor. {cause} {next}',
  'engine.note.weakest_decides':
    '{gpu} kann nicht in {best} rechnen; deshalb rechnen alle Geräte dieses Laufs in {precision}.',
  'engine.note.weakest_slows':
    '{gpu} kann nicht in {best} rechnen; deshalb rechnen alle Geräte dieses Laufs in {precision}. Die anderen sind darin um ein Mehrfaches langsamer: Ohne diese geht es vielleicht schneller.',
  'engine.note.unusual_norms':
    'Embeddings von ungewöhnlicher Größe haben {frames} von {all} Leserahmen. Normen von ESM-2: {esm2}; von DNABERT-S: {dnabertS}. Alle sind bewertet. Kurze und sich wiederholende Rahmen können ungewöhnlich sein; sind es viele, lassen Sie die Rechnerprüfung die Antworten dieses Rechners mit bekannten vergleichen.',
  'engine.norms.range': '{low} bis {high} (erwartet {expectedLow} bis {expectedHigh})',
  'engine.note.synced_folder':
    '{client} kopiert {folder}, während der Lauf dort schreibt. Das bremst beide, und {client} kann Dateien festhalten, die gerade geschrieben werden. Halten Sie {client} an, bis der Lauf fertig ist, oder legen Sie Läufe in einen anderen Ordner.',
  'engine.note.processor_bf16':
    'Der Prozessor rechnet in BF16: Dafür hat er eigene Befehle und ist mit ihnen um ein Mehrfaches schneller. Wählen Sie FP32 als Genauigkeit, wenn er in FP32 rechnen soll.',
  'engine.note.wrong_device':
    'Für {device} rechnet ein anderes Gerät ({found}): Vielleicht wird eine GPU doppelt benutzt.',
  'engine.note.scores_damaged': 'Einige Werte waren auf dem Datenträger beschädigt und werden neu berechnet.',
  'engine.note.part_failed': 'Einige Sequenzen konnten nicht berechnet werden; siehe „Dateien und Fehler“.',
  'engine.note.part_bisected':
    'Etwas ist noch einmal gescheitert; die Sequenz, an der es liegt, wird gesucht.',
  'engine.note.part_file_damaged': 'Eine Arbeitsdatei ist beschädigt; sie wird aus Ihrer Datei neu erzeugt.',
  'engine.note.input_problem': '{file}: {text}',
  'engine.note.uneven':
    '{device} war {percent} % langsamer als {other}, obwohl beide „{name}“ sind. Vielleicht ist es heiß, steckt in einem schmalen Steckplatz oder wird von anderen benutzt.',
  'engine.note.sequences_not_written':
    'Die Tabellen sind vollständig, aber viral_sequences.fna konnte nicht geschrieben werden. {cause} {next}',
  'engine.note.not_wrapped_up':
    'Die Tabellen sind vollständig, aber run.json konnte nicht geschrieben oder Arbeitsdateien nicht entfernt werden. {cause} Beheben Sie das, und drücken Sie dann „Fortsetzen“.',
  'engine.note.not_calibrated':
    'Die Ergebnisse sind vollständig, aber das Modell wurde nicht mit ihnen kalibriert. {cause}',
  'engine.note.state_not_stored': 'Der Zustand des Laufs konnte nicht gespeichert werden: {cause}',
  'engine.exit.killed': 'wurde beendet, meist weil dem Rechner der Speicher ausging',
  'engine.exit.crashed': 'Absturz, oft wegen eines Treiber- oder Hardwarefehlers',
  'engine.exit.signal': 'wurde durch das Signal {signal} beendet',
  'engine.exit.code': 'endete mit dem Code {code}',
  'engine.exit.code_line': 'endete mit dem Code {code} ({line})',
  'engine.exit.not_started': 'konnte nicht gestartet werden',
  'engine.exit.access_violation': 'Absturz, oft wegen eines Treiber- oder Hardwarefehlers',
  'engine.exit.heap_corruption': 'der Speicher war beschädigt',
  'engine.exit.library_missing':
    'eine Systembibliothek fehlt; installieren Sie die Microsoft Visual C++ Runtime',
  'engine.exit.library_failed': 'eine Systembibliothek konnte nicht gestartet werden',
  'engine.prepare.stopped': 'Das Lesen der Dateien brach ab: {how}.',
  'engine.prepare.stopped.next': 'Drücken Sie „Fortsetzen“: Was gelesen und berechnet wurde, ist erhalten.',
  'engine.worker.other_model':
    'Das Modell in seinem Ordner ist ein anderes als das, mit dem der Lauf begonnen wurde.',
  'engine.worker.other_model.next':
    'Drücken Sie „Dateien prüfen“ beim Modell unter Rechnerprüfung, dann „Fortsetzen“.',
  'engine.worker.stopped': '{how}.',
  'engine.worker.stopped_loading':
    '{how}. Es geschah, während das Gerät geöffnet oder das Modell in {folder} gelesen wurde.',
  'engine.worker.stopped_loading.next':
    'Es startet von selbst neu. Kommt es dabei wieder vor, besorgen Sie die Dateien des Modells noch einmal von dort, wo sie veröffentlicht wurden, oder aktualisieren Sie den Treiber des Geräts.',
  'engine.part.out_of_memory': 'Das Gerät hatte zu wenig Speicher.',
  'engine.part.out_of_memory.next':
    'Schließen Sie andere Programme, die die GPU benutzen, und wiederholen Sie es dann mit weniger Speicher.',
  'engine.part.non_finite': 'Das Modell ergab Unberechenbares, auch bei genauerer Wiederholung.',
  'engine.part.non_finite.next':
    'Wiederholen Sie es auf einem anderen Gerät. Scheitert es erneut, prüfen Sie die Gewichte unter „Rechnerprüfung“.',
  'engine.part.part_unreadable': 'Eine Arbeitsdatei fehlt oder ist beschädigt.',
  'engine.part.part_unreadable.next': 'Wiederholen Sie es: Sie wird aus Ihrer Datei neu erzeugt.',
  'engine.part.write_failed': 'Die Werte konnten nicht in den Ergebnisordner geschrieben werden.',
  'engine.part.write_failed.next':
    'Prüfen Sie, ob Sie dort schreiben dürfen und der Datenträger angeschlossen ist, und wiederholen Sie es dann.',
  'engine.part.disk_full': 'Der Datenträger des Ergebnisordners war voll.',
  'engine.part.disk_full.next': 'Schaffen Sie Platz auf diesem Datenträger, und wiederholen Sie es dann.',
  'engine.part.device_lost': 'Die GPU ging während der Berechnung verloren.',
  'engine.part.device_lost.next':
    'Starten Sie den Rechner neu, wenn die GPU wegbleibt, und wiederholen Sie es dann.',
  'engine.part.internal_error': 'Das Programm brach bei dieser Berechnung ab.',
  'engine.part.recalled': 'Es wurde zurückgenommen, bevor es begann.',
  'engine.part.again': 'Wiederholen Sie es. Scheitert es erneut, stehen die Sequenzen namentlich da.',
  'engine.part.lost': 'Eine Arbeitsdatei war {times}-mal beschädigt, so oft sie auch neu erzeugt wurde.',
  'engine.part.lost.next':
    'Prüfen Sie den Datenträger mit den Ergebnissen, und drücken Sie dann „Fortsetzen“.',
  'engine.device.damaged':
    'Was es berechnet hat, war {times}-mal nacheinander auf dem Datenträger beschädigt.',
  'engine.device.damaged.next':
    'Prüfen Sie den Datenträger mit den Ergebnissen und dieses Gerät, und drücken Sie dann „Fortsetzen“.',
  'engine.halt.all_excluded': 'Alle Geräte wurden aus dem Lauf genommen.',
  'engine.halt.all_excluded.next': 'Drücken Sie bei einem Gerät „Wieder verwenden“, und dann „Fortsetzen“.',
  'engine.start.disk_needed': 'Der Lauf braucht etwa {needed}; frei sind {free} in {folder}.',
  'engine.start.disk_needed.next':
    'Schaffen Sie Platz auf diesem Datenträger, oder wählen Sie einen anderen Ordner.',
  'engine.start.folder_has_run': '{folder} enthält schon einen Lauf.',
  'engine.start.folder_has_run.next':
    'Wählen Sie einen anderen Ordner, oder öffnen Sie diesen Lauf unter „Läufe“.',
  'engine.start.folder_not_ours': '{folder} enthält andere Dateien, etwa {file}.',
  'engine.calibration.two_files':
    'Eine Kalibrierung braucht zwei verschiedene Dateien: eine mit Viren und eine mit Sequenzen, die keine sind.',
  'engine.calibration.no_scores': 'In einer der beiden Dateien hat keine Sequenz einen Wert.',
  'engine.calibration.not_kept': 'Die Kalibrierung konnte nicht nach {folder} geschrieben werden.',
  'engine.start.repairs_and_reuse':
    'Embeddings eines früheren Laufs gehören zu den Sequenzen, wie sie geschrieben waren: sie lassen sich nicht verwenden, wo Sequenzen berichtigt werden.',
  'engine.goal.only_here':
    'Ein Lauf endet an einem Ziel nur, wo dieser Computer ihn berechnet, nicht auf einem Cluster, auf anderen Computern oder in Anteilen.',
  'engine.goal.needs_sample':
    'Das Ziel {goal} braucht eine gleichmäßige Stichprobe aller Dateien, und dieser Lauf berechnet eine Datei nach der anderen.',
  'engine.goal.needs_sample.next':
    'Wählen Sie eine Zeit als Ziel, oder legen Sie einen neuen Lauf mit diesem Ziel an.',
  'engine.note.enough': 'Das Ziel {goal} ist erreicht: Der Lauf hält an, der Rest ist nicht berechnet.',
  'engine.note.provisional_not_written': 'Die vorläufige Tabelle konnte nicht geschrieben werden: {cause}',
  'engine.start.outside_root':
    '{path} liegt außerhalb von {root}, dem Ordner, den dieses Programm benutzen darf.',
  'engine.start.outside_root.next': 'Wählen Sie einen anderen Ordner.',
  'engine.step.looking': 'Sieht nach, was schon da ist …',
  'engine.step.waiting': 'Ein anderes Fenster richtet diesen Rechner gerade ein …',
  'engine.step.python': 'Legt eine Python-Umgebung an …',
  'engine.step.packages': 'Holt die Pakete zum Rechnen …',
  'engine.step.pytorch': 'Holt PyTorch, den größten Teil …',
  'engine.step.pytorch_build': 'Holt PyTorch ({build}), den größten Teil …',
  'engine.step.pytorch_packages': 'Holt PyTorch und die Pakete zum Rechnen …',
  'engine.step.test_tools': 'Holt Werkzeuge für Tests …',
  'engine.step.ray': 'Holt Ray …',
  'engine.step.verifying': 'Prüft, ob alles funktioniert …',
  'engine.step.devices': 'Rechnet zur Probe auf jedem Gerät …',
  'engine.step.folder': 'Prüft die Dateien des Ordners …',
  'engine.step.weights': 'Kopiert die Modelle …',
  'engine.step.get_installer': 'Holt das Installationsprogramm …',
  'engine.step.get_python': 'Holt Python {version} …',
  'engine.step.get_packages': 'Holt die Pakete zum Rechnen …',
  'engine.step.get_pytorch': 'Holt PyTorch ({build}), den größten Teil …',
  'engine.step.checksums': 'Schreibt Prüfsummen …',
  'engine.step.downloading': 'Lädt {file} herunter',
  'engine.step.checking': 'Prüft {file}',
  'engine.step.converting': 'Wandelt {file} um',
  'engine.step.finishing': 'Schließt ab',
  'engine.step.queued': 'Wartet',
  'engine.slurm.pytorch':
    'Das Skript verlangt GPUs, aber die Python-Umgebung dieses Rechners, die auch seine Tasks benutzen, hat ein PyTorch, das nur auf Prozessoren rechnet.',
  'engine.slurm.pytorch.next':
    'Lassen Sie die Tasks auf Prozessoren rechnen, oder wählen Sie unter „Einstellungen“ einen Python-Interpreter, dessen PyTorch für die GPUs des Clusters ist.',
  'engine.offline.other': 'In {folder} liegt keine {list}: Er wurde nicht zum Einrichten ohne Netz gepackt.',
  'engine.offline.unfinished': 'Das Packen dieses Ordners wurde nicht beendet.',
  'engine.offline.unfinished.next': 'Packen Sie noch einmal in denselben Ordner: Es geht dort weiter.',
  'engine.offline.damaged': '{file} in diesem Ordner fehlt oder ist beschädigt.',
  'engine.offline.damaged.next': 'Kopieren Sie den Ordner noch einmal, oder packen Sie ihn neu.',
  'engine.offline.platform': 'Dieser Ordner ist für {platform}; dieser Rechner ist {here}.',
  'engine.offline.platform.next': 'Packen Sie auf einem Rechner mit Netz einen Ordner für {here}.',
  'engine.offline.version': 'Dieser Ordner wurde mit Version {version} gepackt, die andere Pakete verwendet.',
  'engine.offline.uv':
    'Das Installationsprogramm in diesem Ordner (uv) ist nicht das veröffentlichte. Es wurde nicht gestartet, und nichts wurde verändert.',
  'engine.offline.version.next':
    'Packen Sie ihn auf einem Rechner mit Netz mit der Version, die hier verwendet wird.',
  // warum ein anderer Rechner nicht erreichbar oder nicht benutzbar ist
  'engine.ssh.missing': 'Auf diesem Rechner wurde kein Programm „ssh“ gefunden.',
  'engine.ssh.name': '{host} wurde nicht gefunden.',
  'engine.ssh.refused': '{host} nimmt dort keine SSH-Verbindungen an.',
  'engine.ssh.timeout': '{host} hat nicht rechtzeitig geantwortet.',
  'engine.ssh.no_route': 'Aus diesem Netzwerk führt kein Weg zu {host}.',
  'engine.ssh.denied': '{host} hat weder einen Schlüssel noch ein Passwort angenommen.',
  'engine.ssh.denied_again':
    '{host} verlangt erneut ein Passwort oder eine Passphrase, nach denen niemand ungefragt gefragt wird.',
  'engine.ssh.denied_again.next': 'Verbinden Sie noch einmal.',
  'engine.ssh.host_key_changed':
    '{host} zeigt einen anderen Schlüssel als früher. Entweder wurde er neu eingerichtet, oder ein anderer Rechner gibt sich für ihn aus.',
  'engine.ssh.host_key_unknown': 'Der Schlüssel von {host} ist hier nicht bekannt.',
  'engine.ssh.host_key_unknown.next':
    'Melden Sie sich einmal in einem Terminal mit „ssh“ und dieser Adresse an, bestätigen Sie dort den Schlüssel, und verbinden Sie dann noch einmal.',
  'engine.ssh.host_key_no': 'Der Host-Schlüssel von {host} wurde nicht bestätigt.',
  'engine.ssh.host_key_no.next':
    'Vergleichen Sie den Fingerabdruck mit dem, den die Betreiber nennen, und verbinden Sie noch einmal.',
  'engine.ssh.lost': 'Die Verbindung zu {host} ist abgebrochen.',
  'engine.ssh.tunnel': '{host} erlaubt keine Tunnel (AllowTcpForwarding).',
  'engine.ssh.tunnel.next':
    'Bitten Sie die Betreuer, Ihnen Tunnel zu erlauben, oder verwenden Sie VirNucPro dort in einem Terminal.',
  'engine.ssh.failed': 'ssh zu {host} endete: {line}',
  'engine.computer.system':
    '{host} ist {system}; über SSH installiert wird nur auf Linux mit x86-64-Prozessor.',
  'engine.computer.old': '{host} hat ein zu altes System: Nötig ist glibc 2.28 oder neuer.',
  'engine.computer.no_answer':
    '{host} hat nicht geantwortet wie ein Rechner, auf dem man Befehle ausführen kann.',
  'engine.computer.no_answer.next':
    'Prüfen Sie, ob dort Befehle ausgeführt werden können: „ssh“ mit dieser Adresse und „uname -a“ muss eine Zeile ausgeben.',
  'engine.computer.disk': '{host} hat im Benutzerordner {free} frei; nötig sind {needed}.',
  'engine.computer.disk.next': 'Schaffen Sie dort Platz, und verbinden Sie dann noch einmal.',
  'engine.computer.unwritable': 'Auf {host} darf Ihr Konto nicht in {folder} schreiben.',
  'engine.computer.unwritable.next':
    'Bitten Sie, wer den Rechner betreibt, um einen eigenen Ordner mit Schreibrecht, und verbinden Sie noch einmal.',
  'engine.computer.unpacking': 'Das Programm konnte auf {host} nicht ausgepackt werden.',
  'engine.computer.damaged': 'Das Programm kam auf {host} beschädigt an.',
  'engine.computer.not_uninstalled':
    'Der Server auf {host} rechnet an einem Lauf oder endet nicht. Dort wurde nichts gelöscht.',
  'engine.computer.not_uninstalled.next':
    'Halten Sie den Lauf dort an und versuchen Sie es noch einmal, oder nehmen Sie den Computer nur aus der Liste.',
  'engine.computer.not_started': 'VirNucPro startete auf {host} nicht.',
  'engine.computer.other_version':
    'Auf {host} rechnet Version {version} an einem Lauf; dies ist Version {own}.',
  'engine.transfer.changed': '{file} wurde geändert, während sie gesendet wurde.',
  'engine.transfer.damaged': '{file} kam beschädigt an.',
  'engine.transfer.gone': '{file} wird auf dem anderen Rechner nicht mehr angeboten.',
  'engine.transfer.not_connected': 'Dieser Rechner ist nicht verbunden.',
  'engine.run.gone': '{folder} ist nicht zu finden.',
  'engine.run.not_listed': 'Dieser Lauf steht nicht mehr in der Liste.',
  'engine.run.not_listed.next': 'Öffnen Sie seinen Ordner, um ihn zurückzuholen.',
  'engine.run.at_work': 'Der Lauf rechnet bereits.',
  'engine.speed.run_at_work': 'Ein Lauf rechnet gerade; die Zahlen wären falsch.',
  'engine.speed.run_at_work.next': 'Warten Sie, bis er fertig ist, oder halten Sie ihn an.',
  'engine.run.pause_first': 'Der Lauf rechnet gerade. Pausieren Sie ihn zuerst.',
  'engine.run.not_at_work': 'Der Lauf rechnet gerade nicht.',
  'engine.run.still_reading':
    'Die Eingabedateien sind nicht zu Ende gelesen; darum ist nicht bekannt, welche Sequenzen fehlen würden. Lassen Sie den Lauf weiterrechnen, bis sie es sind.',
  'engine.run.nothing_left_out': 'Es gibt nichts mehr, was noch berechnet würde.',
  'engine.run.not_waiting': 'Der Lauf wartet nicht in der Warteschlange.',
  'engine.run.nothing_failed': 'Nichts ist gescheitert, das wiederholt werden könnte.',
  'engine.run.devices_at_rest':
    'Geräte können nur ausgenommen oder hinzugenommen werden, während der Lauf rechnet.',
  'engine.run.impossible': 'Das geht mit dem Lauf in seinem jetzigen Zustand nicht.',
  'engine.place.gone': '{folder} ist nicht mehr da.',
  'engine.place.full': 'In {folder} ist kein Platz mehr zum Schreiben.',
  'engine.place.full_to_make': 'Für {folder} ist kein Platz mehr.',
  'engine.table.unreadable': '{file} lässt sich nicht als Tabelle von Sequenzen lesen.',
  'engine.table.unreadable.next':
    'Wählen Sie eine durch Tabulatoren oder Kommas getrennte Tabelle, deren erste Zeile die Spalten benennt und die eine Spalte mit Sequenznamen hat.',
  'engine.original.unreadable':
    '{file} ist keine Ergebnisdatei des ursprünglichen VirNucPro, oder sie ist beschädigt.',
  'engine.original.unreadable.next':
    'Wählen Sie prediction_results.txt oder prediction_results_highestscore.csv, wie das ursprüngliche Programm sie geschrieben hat, oder kopieren Sie die Datei noch einmal.',
  'engine.original.is_compared':
    '{file} ist eine Ergebnisdatei des ursprünglichen VirNucPro: Sie enthält Stücke, keine Sequenzen.',
  'engine.original.is_compared.next':
    'Ziehen Sie sie auf die Ergebnisse, oder wählen Sie sie unter „Mit einem anderen Lauf vergleichen …“.',
  'engine.table.too_large':
    'Die Tabellen anderer Programme, die bei einem Lauf bleiben, dürfen zusammen 16 MB haben.',
  'engine.table.too_large.next':
    'Entfernen Sie eine Tabelle, oder wählen Sie eine mit weniger Zeilen, etwa nur denen mit Viren.',
  'engine.place.full_for': 'Für {path} ist kein Platz mehr.',
  'engine.place.full_for.next':
    'Schaffen Sie Platz auf diesem Datenträger, oder exportieren Sie auf einen anderen.',
  'engine.place.unwritable': '{folder} ist nicht beschreibbar.',
  'engine.place.refused': '{path} ist nicht beschreibbar: {reason}.',
  'engine.place.refused.next': 'Wählen Sie einen anderen Ort für die Datei.',
  'engine.place.file_above': '{folder} kann nicht angelegt werden: {above} ist eine Datei.',
  'engine.place.too_long': '{path} hat {length} Zeichen; Windows kann hier mit {most} umgehen.',
  'engine.place.too_long.next': 'Wählen Sie einen Ort mit kürzerem Pfad.',
  'engine.place.trouble': 'Der Datenträger mit {folder} liest oder schreibt nicht, wie er soll.',
  'engine.place.trouble.next':
    'Prüfen Sie, ob er angeschlossen und weder er noch Ihr Kontingent voll ist; drücken Sie dann „Fortsetzen“.',
  'engine.reason.not_allowed': 'Sie dürfen dort nicht schreiben',
  'engine.reason.read_only': 'der Datenträger lässt sich nur lesen',
  'engine.reason.file_in_path': 'ein Teil des Pfades ist eine Datei',
  'engine.reason.name_taken': 'dort liegt eine Datei oder ein toter Verweis dieses Namens',
  'engine.reason.name_too_long': 'der Name ist zu lang für diesen Datenträger',
  'engine.reason.no_new_folders': 'der Datenträger nimmt keine neuen Ordner an',
  'engine.reason.no_folder': 'sein Ordner ist nicht da',
  'engine.reason.is_folder': 'es ist ein Ordner',
  'engine.run.database_unreadable': 'Die Datenbank in {folder} ist nicht lesbar.',
  'engine.run.database_busy': 'Ein anderes Programm benutzt die Datenbank in {folder}.',
  'engine.run.no_database': 'In {folder} liegt keine run.db.',
  'engine.run.empty_database': 'Die run.db in {folder} ist leer.',
  'engine.run.no_request':
    'Der Lauf in {folder} sagt nicht, wie er angefordert wurde; dieses Programm kann ihn nicht weiterführen.',
  'engine.run.no_request.next':
    'Seine Tabellen lassen sich in seinem Ordner lesen. Oder starten Sie einen neuen Lauf mit seinen Dateien.',
  'engine.run.locked': 'An {folder} arbeitet der Prozess {pid} auf {where}.',
  'engine.run.locked.here': 'An {folder} arbeitet der Prozess {pid} auf diesem Rechner.',
  'engine.run.damaged.next':
    'Setzen Sie den Lauf fort: Was beschädigt ist, wird neu berechnet, alles andere bleibt.',
  'engine.note.rows_damaged':
    'Einige gespeicherte Ergebnisse waren auf dem Datenträger beschädigt und werden neu berechnet.',
  'engine.input.not_found': 'Es gibt keine Datei {path}.',
  'engine.input.pipe': '{path} ist eine Pipe oder ein Gerät, und ein Lauf liest seine Eingaben zweimal.',
  'engine.input.pipe.next': 'Schreiben Sie den Inhalt in eine Datei, und wählen Sie diese.',
  'engine.file.too_large': '{path} ist zu groß für das, was darin stehen soll.',
  'engine.file.silent': 'Das Laufwerk antwortet seit {minutes} Minuten nicht: {path}.',
  'engine.file.silent.next': 'Prüfen Sie das Laufwerk und versuchen Sie es dann erneut.',
  'engine.input.none_in_folder': 'Der Ordner enthält keine FASTA- oder FASTQ-Dateien (nach ihren Endungen).',
  'engine.sheet.unreadable': '{name} lässt sich nicht als Tabelle lesen: {detail}',
  'engine.sheet.column_unknown':
    '{name} hat eine Spalte „{title}“; bekannt sind Datei, Probe, Gruppe, Notiz und Kontrolle (oder file, sample, group, note, control).',
  'engine.sheet.column_twice': '{name} hat die Spalte „{title}“ zweimal.',
  'engine.sheet.column_missing': '{name} hat keine Spalte „{column}“.',
  'engine.sheet.cell_empty': '{name}, Zeile {line}: Die Spalte „{column}“ ist leer.',
  'engine.sheet.control': '{name}, Zeile {line}: Kontrolle ist „{value}“; möglich sind ja, nein oder nichts.',
  'engine.sheet.too_long':
    '{name}, Zeile {line}: Ein Name einer Probe oder Gruppe hat mehr als {most} Zeichen.',
  'engine.sheet.file_twice': '{name}, Zeile {line}: {file} steht schon in Zeile {before}.',
  'engine.sheet.sample_differs':
    '{name}, Zeile {line}: {sample} hat eine andere Gruppe oder Kontrollangabe als in Zeile {before}.',
  'engine.sheet.no_lines': '{name} nennt keine Datei.',
  'engine.sheet.file_missing': '{name}: {file} ist nicht unter den Eingaben.',
  'engine.sheet.file_ambiguous': '{name}: Mehrere Eingaben heißen {file}.',
  'engine.sheet.file_ambiguous.next':
    'Schreiben Sie im Blatt so viel vom Ordner davor, dass sie sich unterscheiden.',
  'engine.sheet.next':
    'Beheben Sie das im Blatt, oder speichern Sie es als CSV, und fügen Sie es noch einmal hinzu.',
  'engine.input.too_many': '{folder} enthält mehr Dateien, als sich zusammen ansehen lassen.',
  'engine.input.too_many.next': 'Wählen Sie einen kleineren Ordner, oder nehmen Sie die Kommandozeile.',
  'engine.input.folder_unreadable': 'Der Ordner {folder} ist nicht lesbar: {reason}',
  'engine.input.folder_unreadable.next':
    'Prüfen Sie, ob Sie diesen Ordner lesen dürfen, oder wählen Sie die Dateien selbst.',
  'engine.browse.not_opened': '{folder} lässt sich nicht öffnen: {reason}',
  'engine.model.unknown': 'Es gibt kein Modell „{model}“ und keinen Ordner oder keine Datei dieses Namens.',
  'engine.model.of_run_other': 'Die Gewichte von {title} sind nicht die, mit denen der Lauf begonnen wurde.',
  'engine.model.of_run_other.next':
    'Legen Sie die ursprünglichen Gewichte zurück, oder beginnen Sie einen neuen Lauf.',
  'engine.model.of_run_missing': 'Das Modell dieses Laufs, {title}, ist nicht auf diesem Rechner.',
  'engine.model.weights_missing': 'Die Gewichte des {name}-bp-Modells sind nicht auf diesem Rechner.',
  'engine.log.none': 'Davon gibt es noch kein Log.',
  'engine.log.none.next': 'Es entsteht, wenn das Rechnen beginnt.',
  'engine.step.known_frames': 'Bekannte Leserahmen werden berechnet',
  'engine.step.controls': 'Bekannte Sequenzen werden berechnet',
  'engine.step.measuring_speed': 'Die Geschwindigkeit wird gemessen',
  'engine.bytes': '{text}',
  'engine.check.under_way': 'Wird geprüft …',
  'engine.check.after_python': 'Wird geprüft, sobald Python eingerichtet ist.',
  'engine.check.driver.unknown': 'Der Treiber ließ sich nicht befragen.',
  'engine.check.driver.nvidia': 'NVIDIA-Treiber {version}.',
  'engine.check.driver.amd': 'AMD-Treiber dieses Linux-Kernels.',
  'engine.check.driver.none': 'Es wurde kein NVIDIA-Treiber gefunden.',
  'engine.check.gpu': '{name} ({free} frei).',
  'engine.check.gpu.apple':
    'Eine Apple-GPU. Auf einer solchen wurde dieses Programm nie geprüft: Vergleichen Sie einige Ergebnisse mit denen des Prozessors.',
  'engine.check.gpu.none':
    'Keine GPU ist benutzbar. Läufe rechnen auf dem Prozessor; die veröffentlichten Modelle brauchen dort Tage.',
  'engine.check.gpu.amd_untested':
    'Auf AMD-GPUs wurde dieses Programm nie geprüft: Vergleichen Sie einige Ergebnisse mit denen des Prozessors.',
  'engine.check.gpu.integrated': '{name} ist Teil des Prozessors: Sie rechnet nur, wenn Sie sie auswählen.',
  'engine.check.gpu.too_small': 'Mit weniger als {least} freiem Speicher ist eine GPU zu klein.',
  'engine.check.gpu.streamed':
    'Mit weniger als {all} freiem Speicher rechnet eine GPU langsamer, weil das Modell im Hauptspeicher bleibt. Die Ergebnisse sind dieselben.',
  'engine.check.gpu.fp32_only':
    '{name} rechnet nur in FP32, und ebenso alle GPUs eines Laufs, an dem sie teilnimmt.',
  'engine.check.gpu.no_bf16': '{name} kennt kein BF16: Läufe, an denen sie teilnimmt, rechnen in FP16.',
  'engine.check.memory.unknown': 'Der Arbeitsspeicher ließ sich nicht ermitteln.',
  'engine.check.memory': '{free} von {total} frei.',
  'engine.check.memory.little': 'Die veröffentlichten Modelle zu laden braucht bis zu {needed}.',
  'engine.check.disk.unknown': 'Der freie Platz ließ sich nicht ermitteln.',
  'engine.check.disk': '{free} frei für Gewichte und Ergebnisse.',
  'engine.check.disk.little': 'Nur {free} frei; Gewichte und Arbeitsdateien brauchen etwa {needed}.',
  'engine.check.python': 'Python {version}.',
  'engine.check.python.torch': 'Python {version}, PyTorch {torch}.',
  'engine.check.python.absent': 'Noch nicht eingerichtet.',
  'engine.check.computing.untried': 'Die Geräte konnten nicht erprobt werden.',
  'engine.check.computing.right':
    '{device} ({precisions}): Alle Ergebnisse stimmen mit denen des Prozessors in FP32 überein.',
  'engine.check.computing.leave_out': 'Lassen Sie weg, was falsch rechnet.',
  'engine.check.computing.wrong': '{device}, {precision}: {problem}',
  'engine.check.computing.differs':
    'Die Ergebnisse weichen um {difference} von denen des Prozessors ab; erlaubt ist {allowed}.',
  'engine.check.computing.no_answer': 'Es kam keine Antwort.',
  'engine.check.computing.broke_off': 'Die Proberechnung brach ab. {line}',
  'engine.check.weights.unknown': 'Die Gewichte konnten nicht geprüft werden.',
  'engine.check.weights': 'Vorhanden: {models}.',
  'engine.check.weights.none': 'Nur das Lehrmodell ist da. Es ist nicht für die Forschung.',
  'engine.blocked.pytorch_cuda': '{name} braucht PyTorch für CUDA; die Python-Umgebung hat ein anderes.',
  'engine.blocked.pytorch_cuda.next':
    'Reparieren Sie die Python-Umgebung; eine eigene braucht PyTorch für CUDA.',
  'engine.blocked.pytorch_rocm': '{name} braucht PyTorch für ROCm; die Python-Umgebung hat ein anderes.',
  'engine.blocked.pytorch_rocm.next':
    'Reparieren Sie unter Linux die Python-Umgebung: Ohne NVIDIA-Treiber erhält sie PyTorch für ROCm. Oder wählen Sie unter „Einstellungen“ einen eigenen Interpreter, der es hat.',
  'engine.blocked.architecture': '{name} wird vom vorhandenen PyTorch nicht unterstützt.',
  'engine.blocked.architecture.next':
    'Reparieren Sie die Python-Umgebung: Sie erhält das PyTorch, das die meisten GPUs dieses Rechners benutzen können.',
  'engine.blocked.driver': '{name} braucht für das vorhandene PyTorch einen neueren NVIDIA-Treiber.',
  'engine.blocked.driver.next':
    'Aktualisieren Sie den NVIDIA-Treiber, oder reparieren Sie die Python-Umgebung: Sie erhält das PyTorch für den vorhandenen Treiber.',
  'engine.blocked.trial': '{name} hat die Proberechnung in keinem Zahlenformat bestanden.',
  'engine.blocked.trial.next':
    'Rechnen Sie auf anderen Geräten. Die Rechnerprüfung sagt, was misslang, und versucht es mit diesem noch einmal.',
  'engine.blocked.permission': '{name} ist für dieses Benutzerkonto gesperrt (/dev/kfd und /dev/dri).',
  'engine.blocked.permission.next':
    'Nehmen Sie das Konto in die Gruppen „render“ und „video“ auf, und melden Sie sich neu an.',
  'engine.python.not_started': '{interpreter} lässt sich nicht starten.',
  'engine.python.no_backend': '{interpreter} kann den Python-Teil dieses Programms nicht ausführen.',
  'engine.python.unreadable': '{interpreter} sandte Unlesbares.',
  'engine.python.too_old': '{interpreter} ist Python {version}; gebraucht wird {needed}.',
  'engine.python.problems': 'Probleme von {interpreter}: {problems}.',
  'engine.python.unfinished': 'Die Python-Umgebung wurde nicht zu Ende eingerichtet.',
  'engine.python.outdated': 'Die Python-Pakete gehören zu einer anderen Version dieses Programms.',
  'engine.python.changed': 'Etwas hat die Pakete der Python-Umgebung verändert: {names}.',
  'engine.model.lacks': 'Dem Modell „{model}“ fehlt {path}.',
  'engine.weights.empty': 'Sie ist leer.',
  'engine.weights.lfs': 'Sie sagt nur, wo die Datei liegt (Git LFS). Holen Sie die Datei selbst.',
  'engine.weights.web_page':
    'Sie ist eine Webseite, die anstelle der Datei gespeichert wurde. Laden Sie die Datei noch einmal herunter.',
  'engine.weights.too_small':
    'Sie hat {size}, die veröffentlichte Datei dieses Namens aber {published}. Wahrscheinlich wurde das Herunterladen abgebrochen: Holen Sie sie noch einmal.',
  'engine.weights.unreadable': 'Sie kann nicht gelesen werden: {text}',
  'engine.weights.index_alone':
    'Sie nennt nur die Dateien mit den Gewichten. Wählen Sie den Ordner, in dem alle liegen.',
  'engine.weights.transformer_engine':
    'Sie ist für NVIDIAs TransformerEngine angelegt. Nehmen Sie die Datei von fair-esm oder von Hugging Face.',
  'engine.weights.contacts': 'Sie sagt Kontakte innerhalb von Proteinen voraus und wird nicht gebraucht.',
  'engine.weights.other_language_model': 'Sie ist ein Sprachmodell anderer Art.',
  'engine.weights.other_weights':
    'Sie enthält Gewichte, aber weder ESM-2, DNABERT-S noch einen Klassifikator von VirNucPro.',
  'engine.weights.unknown': 'Sie enthält weder Gewichte noch etwas, das dazu gehört.',
  'engine.weights.brought_down':
    'Der Prozess, der {file} las, ist abgestürzt: Die Datei ist beschädigt oder braucht mehr Speicher oder Zeit, als sie sollte.',
  'engine.weights.brought_down.next':
    'Holen Sie die Datei noch einmal von dort, wo sie veröffentlicht ist, oder beenden Sie zuvor andere Programme.',
  'engine.legacy.brought_down.next':
    'Nehmen Sie diese Datei aus dem Ordner und versuchen Sie es noch einmal: Ihre Embeddings werden dann berechnet. Oder beginnen Sie einen gewöhnlichen Lauf.',
  'engine.model.wrong_size': '{path} hat {size} Bytes statt {expected}.',
  'engine.model.no_description': '{path} beschreibt kein Modell.',
  'engine.no_gpu.package_missing':
    'Das Paket, das den NVIDIA-Treiber nach GPUs fragt, fehlt: Reparieren Sie die Python-Umgebung.',
  'engine.no_gpu.no_driver':
    'Es ist kein NVIDIA-Treiber installiert. Auf einem Rechner ohne NVIDIA-GPU ist das normal.',
  'engine.no_gpu.driver_not_running':
    'NVIDIA-Software ist installiert, aber ihr Treiber läuft nicht. Entweder hat dieser Rechner keine NVIDIA-GPU, oder der Treiber muss neu installiert werden.',
  'engine.no_gpu.restart_needed':
    'Der NVIDIA-Treiber wurde aktualisiert, und der Rechner seither nicht neu gestartet. Starten Sie ihn neu.',
  'engine.no_gpu.no_permission': 'Dieses Benutzerkonto darf den NVIDIA-Treiber nicht befragen.',
  'engine.no_gpu.no_answer': 'Der NVIDIA-Treiber antwortet nicht.',
  'engine.no_gpu.no_gpu_answers': 'Der NVIDIA-Treiber läuft, findet aber keine GPU, die antwortet.',
  'engine.problem.empty': 'Leere Sequenzen: {count, number}.',
  'engine.problem.invalid_characters':
    'Sequenzen mit Zeichen, die keine Buchstaben sind (etwa Steuerzeichen oder Akzente): {count, number}.',
  'engine.problem.malformed_record': 'Beschädigte oder unvollständige Einträge: {count, number}.',
  'engine.problem.duplicate_ids':
    'Sequenzen mit einem Namen, den schon eine frühere Sequenz hat: {count, number}.',
  'engine.problem.ids_not_compared':
    'Namen, die nicht auf Wiederholung geprüft wurden, weil es zu viele sind: {count, number}.',
  'engine.problem.ambiguous_bases': 'Sequenzen mit anderen Buchstaben als A, C, G und T: {count, number}.',
  'engine.problem.lower_case': 'Sequenzen mit Kleinbuchstaben: {count, number}.',
  'engine.problem.no_sequences': 'Die Datei enthält keine Sequenzen.',
  'engine.problem.looks_like_protein': 'Die Buchstaben sind die von Proteinen, nicht von DNA.',
  'engine.problem.looks_like_rna': 'Die Sequenzen sind als RNA geschrieben, mit U statt T.',
  'engine.problem.empty.effect': 'Sie stehen mit diesem Grund als „nicht bewertet“ in den Ergebnissen.',
  'engine.problem.invalid_characters.effect':
    'Sie stehen mit diesem Grund als „nicht bewertet“ in den Ergebnissen; alle anderen werden bewertet.',
  'engine.problem.malformed_record.effect':
    'Sie stehen mit diesem Grund als „nicht bewertet“ in den Ergebnissen; das Lesen geht mit dem nächsten Eintrag weiter.',
  'engine.problem.duplicate_ids.effect':
    'Namen enden am ersten Leerzeichen. Alle Sequenzen werden bewertet und nach ihrem Platz in der Datei unterschieden.',
  'engine.problem.ids_not_compared.effect':
    'Alle Sequenzen werden bewertet und nach ihrem Platz in der Datei unterschieden.',
  'engine.problem.ambiguous_bases.effect':
    'Ein Codon mit einem solchen Buchstaben wird im Protein übergangen, wie im ursprünglichen Werkzeug.',
  'engine.problem.lower_case.effect':
    'Sie werden als Großbuchstaben gelesen; Maskierung wird nicht beachtet.',
  'engine.problem.no_sequences.effect': 'Die Ergebnisse haben keine Zeilen aus dieser Datei.',
  'engine.problem.looks_like_protein.short': 'Proteine, keine DNA',
  'engine.problem.looks_like_protein.effect':
    'Proteine können nicht bewertet werden: Wählen Sie die Nukleotidsequenzen.',
  'engine.problem.looks_like_rna.effect': 'Codons mit U werden übergangen, sodass kaum etwas bewertet würde.',
  'engine.problem.looks_like_alignment': 'Die Sequenzen sind aligniert, mit Lücken (- oder .).',
  'engine.problem.looks_like_alignment.effect':
    'Lücken gelten als unbekannte Buchstaben und verschieben die Leserahmen.',
  'engine.problem.kind.alignment_map': 'Alignments (SAM, BAM oder CRAM), keine einfachen Reads.',
  'engine.problem.kind.alignment_map.effect':
    'Wandeln Sie sie mit samtools fastq um und legen Sie die FASTQ-Datei ab.',
  'engine.problem.kind.genbank': 'Eine GenBank-Datei.',
  'engine.problem.kind.genbank.effect':
    'Laden Sie dieselben Sequenzen als FASTA herunter: bei NCBI „Send to“, File, Format FASTA.',
  'engine.problem.kind.embl': 'Eine EMBL-Datei.',
  'engine.problem.kind.embl.effect': 'Laden oder speichern Sie dieselben Sequenzen als FASTA.',
  'engine.problem.kind.gff': 'Eine Annotation (GFF) ohne die Sequenzen.',
  'engine.problem.kind.gff.effect': 'Legen Sie die FASTA-Datei ab, die sie beschreibt.',
  'engine.problem.kind.vcf': 'Varianten (VCF) ohne die Sequenzen.',
  'engine.problem.kind.vcf.effect': 'Legen Sie die FASTA-Datei ab, aus der sie stammen.',
  'engine.problem.kind.excel': 'Eine Excel-Mappe.',
  'engine.problem.kind.excel.effect':
    'Kopieren Sie die Sequenzen in eine reine Textdatei, jede unter eine Zeile mit > und ihrem Namen.',
  'engine.problem.kind.word': 'Ein Word-Dokument.',
  'engine.problem.kind.word.effect':
    'Speichern Sie es in Word als reinen Text (.txt); jede Sequenz steht unter einer Zeile mit > und ihrem Namen.',
  'engine.problem.kind.old_office': 'Eine alte Word- oder Excel-Datei.',
  'engine.problem.kind.old_office.effect':
    'Speichern Sie die Sequenzen als reinen Text, jede unter einer Zeile mit > und ihrem Namen.',
  'engine.problem.kind.rtf': 'Ein formatiertes Dokument (RTF).',
  'engine.problem.kind.rtf.effect':
    'Speichern Sie es als reinen Text (.txt); jede Sequenz steht unter einer Zeile mit > und ihrem Namen.',
  'engine.problem.kind.archive': 'Ein Archiv.',
  'engine.problem.kind.archive.effect':
    'Entpacken Sie es und legen Sie die FASTA- oder FASTQ-Dateien daraus ab.',
  'engine.problem.kind.compressed_twice': 'Zweimal komprimiert.',
  'engine.problem.kind.compressed_twice.effect': 'Entpacken Sie sie einmal und legen Sie das Ergebnis ab.',
  'engine.problem.kind.fast5': 'Rohsignale (FAST5).',
  'engine.problem.kind.fast5.effect':
    'Lassen Sie sie erst in Basen übersetzen (Basecalling) und legen Sie die FASTQ-Datei ab.',
  'engine.problem.kind.pdf': 'Ein PDF-Dokument.',
  'engine.problem.kind.pdf.effect':
    'Daraus lassen sich keine Sequenzen lesen: Legen Sie eine FASTA- oder FASTQ-Datei ab.',
  'engine.problem.kind.utf16': 'Text in UTF-16.',
  'engine.problem.kind.utf16.effect': 'Speichern Sie ihn noch einmal als reinen Text (UTF-8).',
  'engine.problem.kind.web_page': 'Eine Webseite.',
  'engine.problem.kind.web_page.effect': 'Laden Sie die Sequenzen selbst als FASTA herunter.',
  'engine.problem.kind.table': 'Eine Tabelle.',
  'engine.problem.kind.table.effect':
    'Eine Tabelle eines anderen Werkzeugs, etwa von geNomad, wird auf den Ergebnissen eines Laufs abgelegt.',
} as const;
