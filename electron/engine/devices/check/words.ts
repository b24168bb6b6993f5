import { calledOf, wordsOfCalled, type CheckReport, type FiguresOf } from '../../../contract/checks.ts';
import { countNamed, message, plain, type Message } from '../../../contract/messages.ts';
import type { ChosenDevice } from '../chosenDevice.ts';

/** Says what a check found. */
export function wordsOf(report: CheckReport, kind: ChosenDevice['kind']): Message[] {
  const { check, verdict, figures, problem } = report;
  if (figures === null) return [plain(problem ?? '')];
  switch (check) {
    case 'devices': {
      const { difference, allowed } = figures;
      return [
        verdict === 'works'
          ? message('check.devices.works')
          : message('check.computing.differs', { difference: rounded(difference), allowed }),
      ];
    }
    case 'controls':
      return wordsOfControls(verdict, figures);
    case 'precision': {
      if (verdict === 'no_answer') return [message('check.precision.no_answer')];
      const key = verdict === 'works' ? 'check.precision.works' : 'check.precision.differs';
      return [message(key, { share: percent(figures.flip_share) })];
    }
    case 'speed': {
      const best = figures.rows.toSorted(
        (a, b) => b.esm2_residues_per_second - a.esm2_residues_per_second,
      )[0];
      if (!best) return [message('check.speed.no_answer')];
      const speed = message('check.speed.works', {
        residues: countNamed(Math.round(best.esm2_residues_per_second)),
        share: percent(best.esm2_residues_per_second / best.products_residues_per_second),
        frames: countNamed(Math.round(best.dnabert_s_frames_per_second)),
      });
      return kind === 'cpu' ? [message('check.speed.one_core'), speed] : [speed];
    }
  }
}

function wordsOfControls(verdict: CheckReport['verdict'], figures: FiguresOf<'controls'>): Message[] {
  if (verdict === 'no_answer') return [message('check.controls.no_answer')];
  const { auroc, differences } = figures;
  const [phage, shuffled] = [calledOf(figures, 'crassphage'), calledOf(figures, 'shuffled')];
  const [worst] = Object.values(differences).toSorted(
    (a, b) => b.difference / b.allowed - a.difference / a.allowed,
  );
  const messages: Message[] = [];
  if (verdict === 'differs' && worst)
    messages.push(
      message('check.controls.differs', {
        difference: rounded(worst.difference),
        allowed: worst.allowed,
      }),
    );
  if (verdict === 'weak') messages.push(message('check.controls.weak', { share: percent(auroc ?? 0) }));
  messages.push(wordsOfCalled({ viral: calledOf(figures, 'viral'), host: calledOf(figures, 'host') }));
  if (phage.scored > 0)
    messages.push(
      message('check.controls.others', {
        ...{ phage: phage.called, phages: phage.scored },
        ...{ shuffled: shuffled.called, shuffles: shuffled.scored },
      }),
    );
  const { norm, score } = differences;
  if (verdict === 'works' && norm)
    messages.push(message('check.controls.norms', { norm: percent(norm.difference) }));
  if (verdict === 'works' && score)
    messages.push(message('check.controls.scores', { score: percent(score.difference) }));
  return messages;
}

const rounded = (value: number): number => Number(value.toPrecision(2));
const percent = (share: number): number => rounded(100 * share);
