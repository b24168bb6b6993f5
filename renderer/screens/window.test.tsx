import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { App } from '../App.tsx';
import { engine as api } from '../state/connection.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';
import { GUIDE_PAGES } from '../state/guidePages.ts';
import { go, useNavigation } from '../state/navigation.ts';
import { addPaths, choose, startOver, useNewRun } from '../state/newRun/store.ts';
import { addDroppedTables } from '../state/results/otherTables.ts';
import { useResultsView } from '../state/results/resultsView.ts';
import { useRuns } from '../state/runs/runs.ts';
import { changeSettings, useSettings } from '../state/settings.ts';
import { RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../testing/render.tsx';

beforeEach(() => {
  act(() => {
    startOver();
    go({ screen: 'new-run' });
    useRuns.setState({ runs: null, error: null });
    useSettings.setState({ settings: null, info: null });
  });
});

type Made = Parameters<typeof renderWithEngine>[1];

/** The window, and a user of it. */
const opened = async (made?: Made) => ({
  user: userEvent.setup(),
  ...(await renderWithEngine(<App />, made)),
});

/** New run with a file of contigs. */
async function withContigs(made: Made = { runs: 'none' }) {
  const window = await opened(made);
  await act(() => addPaths(['/data/contigs.fasta']));
  return window;
}

async function openRun(name: keyof typeof RUN_IDS, tab: 'progress' | 'results' | 'files', made?: Made) {
  const window = await opened(made);
  act(() => go({ screen: 'run', runId: RUN_IDS[name], tab }));
  return window;
}

/** Drops a file on the results of the finished run. */
async function dropTable(name: string, ...lines: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'virnucpro-table-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), lines.join('\n'));
  await act(() => addDroppedTables(RUN_IDS.done, { kind: 'paths', paths: [join(folder, name)] }));
}

describe('a new run', () => {
  it('waits with its files while Python is repaired, which the first steps show', async () => {
    const { user } = await opened();
    await act(() => addPaths(['/data/contigs.fasta']));
    await screen.findByText(/1 file · 27,734 sequences/);
    act(() => go({ screen: 'computer' }));
    await user.click(await screen.findByRole('button', { name: 'Repair' }));
    await screen.findByText(/^Step 1 of 4/);
    expect(useNavigation.getState().route).toEqual({ screen: 'start' });
  });

  it('shows beside the button why it is disabled, and how to go on', async () => {
    const { user } = await opened({ runs: 'none' });
    await act(() => addPaths(['/data/truncated.fa.gz']));
    const start = await screen.findByRole('button', { name: 'Start' });
    await screen.findByText('Cannot start: 1 file cannot be used.');
    expect(start).toHaveProperty('disabled', true);
    // With one usable file, the run goes on without the other.
    await act(() => addPaths(['/data/contigs.fasta']));
    await waitFor(() => expect(start).toHaveProperty('disabled', false));
    await user.click(await screen.findByRole('button', { name: '1 thing to mend' }));
    screen.getByText('1 file cannot be used');
    await user.click(await screen.findByRole('button', { name: 'Remove from the list' }));
    await waitFor(() => expect(start).toHaveProperty('disabled', false));
    expect(useNewRun.getState().files).toHaveLength(1);
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    expect(useNewRun.getState().files).toHaveLength(2);
  });

  it('shows faster ways for a run of more than a day, and only then', async () => {
    await withContigs();
    await screen.findByText(/^About /);
    screen.getByText(/^On this computer, .*16 bit \(bf16\)/);
    expect(screen.queryByRole('link', { name: 'Rent a GPU by the hour' })).toBeNull();
    act(() => choose({ precision: 'fp32' }));
    const link = await screen.findByRole('link', { name: 'Rent a GPU by the hour' });
    expect(link.getAttribute('href')).toBe('#/guide/rented-gpu');
  });

  it('offers no number format in which a GPU failed the test computation, and names that GPU', async () => {
    const user = userEvent.setup();
    const failedAt = { 0: ['fp8', 'fp32'], 2: ['bf16', 'fp16', 'fp32'] } as const;
    await withContigs({ runs: 'none', devices: 3, failedAt });
    await user.click(await screen.findByRole('button', { name: 'Change: Computing' }));
    await screen.findByText('Failed the test computation in FP8, FP32: not used for it', { exact: false });
    // A GPU that failed in every format is excluded.
    const lost = screen.getByRole('checkbox', { name: /^GPU 2/ });
    expect([lost, screen.getByRole('checkbox', { name: /^GPU 0/ })]).toMatchObject([
      { disabled: true, checked: false },
      { disabled: false, checked: true },
    ]);
    screen.getByText('Failed the test computation, see Computer check');
    await user.click(screen.getByRole('button', { name: 'Advanced settings' }));
    await user.click(screen.getByRole('combobox', { name: 'Number format' }));
    const isOffered = (name: string) =>
      screen.getByRole('option', { name, hidden: true }).dataset['comboboxDisabled'] !== 'true';
    expect(['Automatic', '32 bit (fp32)', '16 bit (bf16)'].map(isOffered)).toEqual([true, false, true]);
    // Without that GPU, every format of the other is offered.
    await user.click(screen.getByRole('checkbox', { name: /^GPU 0/ }));
    expect(isOffered('32 bit (fp32)')).toBe(true);
    await user.click(screen.getByRole('button', { name: 'Open the computer check' }));
    await screen.findByRole('heading', { level: 1, name: 'Computer check' });
  });
});

describe('a run', () => {
  it('reports embeddings of unusual size with numbers, and links to the check of its model', async () => {
    const { user } = await openRun('withFailures', 'progress');
    await screen.findByText('69 reading frames have embeddings of unusual size.');
    screen.getByText(/Norms of ESM-2: 9\.1–17\.2 \(expected 12\.0–16\.0\)/);
    await user.click(screen.getByRole('button', { name: 'Open Computer check' }));
    expect(useNavigation.getState().route).toMatchObject({ screen: 'computer' });
  });

  it('folds several failures of a kind into one line that names them and opens', async () => {
    const { user, engine } = await opened();
    const state = { phase: 'done', failedParts: 3, failedRecords: 192, failedInputs: 2 } as const;
    act(() => engine.changeRun(RUN_IDS.withFailures, { state }));
    act(() => go({ screen: 'run', runId: RUN_IDS.withFailures, tab: 'files' }));
    for (const [line, button, count] of [
      ['notes.fa, notes2.fa', 'Leave out', 2],
      [/^Sequences \S+ to \S+, Sequences/, 'Skip', 3],
    ] as const) {
      const fold = await screen.findByRole('button', { name: line });
      expect(screen.queryAllByRole('button', { name: button })).toEqual([]);
      await user.click(fold);
      await waitFor(() => expect(screen.getAllByRole('button', { name: button })).toHaveLength(count));
    }
  });

  it('is discarded only after confirmation, with everything that was computed', async () => {
    const { user, engine } = await openRun('running', 'progress');
    await user.click(await screen.findByRole('button', { name: 'Stop …' }));
    // Without a layout the menu believes that it has scrolled out of sight, and hides.
    await user.click(await screen.findByRole('menuitem', { name: /Discard/, hidden: true }));
    const dialog = await screen.findByRole('dialog', { name: 'Discard this run?' });
    expect(engine.runs().find((run) => run.runId === RUN_IDS.running)?.state.phase).toBe('running');
    await user.click(within(dialog).getByRole('button', { name: 'Discard' }));
    await waitFor(() => expect(engine.runs().map((run) => run.runId)).not.toContain(RUN_IDS.running));
    await screen.findByRole('heading', { level: 1, name: 'Runs' });
  });

  it('is stopped with its results kept, and resumed later', async () => {
    const { user } = await openRun('running', 'progress');
    await user.click(await screen.findByRole('button', { name: 'Later' }));
    await user.click(await screen.findByRole('button', { name: 'Stop …' }));
    await user.click(await screen.findByRole('menuitem', { name: /Stop and keep/, hidden: true }));
    await user.click(await screen.findByRole('button', { name: 'Continue' }));
    await screen.findByRole('button', { name: 'Pause' });
  });

  it('ends on its answer, with the results first and how it ran last', async () => {
    const { engine } = await openRun('running', 'progress');
    await screen.findByRole('button', { name: 'Pause' });
    const state = { phase: 'done', failedParts: 0, failedRecords: 0, failedInputs: 4 } as const;
    act(() => engine.changeRun(RUN_IDS.running, { state, fraction: 1 }));
    await waitFor(() => expect(useNavigation.getState().route).toMatchObject({ tab: 'results' }));
    const { byPrediction } = await api.results.counts({ runId: RUN_IDS.running, filter: {} });
    const number = (value: number) => value.toLocaleString('en');
    const { virus, others } = byPrediction;
    await screen.findByText(`${number(virus)} of ${number(virus + others)} look viral`);
    expect(screen.getByRole('link', { name: '4 files left out' })).toHaveProperty(
      'hash',
      `#/run/${RUN_IDS.running}/files`,
    );
    const tabs = screen.getAllByRole('tab').map(({ textContent }) => textContent);
    expect([tabs[0], tabs.at(-1)]).toEqual(['Results', 'How it ran']);
  });

  it('shows provisional results before it is done, marked as such, and can finish with them after confirmation', async () => {
    const { user, engine } = await openRun('running', 'results');
    await screen.findByText('Provisional results');
    await screen.findByText(/370 of 500 sequences read so far have a result/);
    // Its files are still being read.
    expect(screen.queryByRole('button', { name: 'Finish with what is computed' })).toBeNull();

    act(() => go({ screen: 'run', runId: RUN_IDS.interrupted, tab: 'results' }));
    await user.click(await screen.findByRole('button', { name: 'Finish with what is computed' }));
    const dialog = await screen.findByRole('dialog', { name: 'Finish with what is computed?' });
    await within(dialog).findByText(/^438 of 500 sequences have a result, [\d,]+ would be left out;/);
    await user.click(within(dialog).getByRole('button', { name: 'Finish with what is computed' }));
    await waitFor(() =>
      expect(engine.runs().find((run) => run.runId === RUN_IDS.interrupted)?.state.phase).toBe('done'),
    );
  });

  it('explains that waiting runs keep waiting during a pause', async () => {
    const { user } = await openRun('running', 'progress');
    await user.click(await screen.findByRole('button', { name: 'Stop …' }));
    const stop = await screen.findByRole('menuitem', { name: /^Stop and keep/, hidden: true });
    expect(stop.textContent).toContain('Waiting runs keep waiting until you start one.');
    // The only way to pause is the button beside the menu.
    expect(screen.getAllByRole('menuitem', { name: /./, hidden: true })).toHaveLength(2);
    expect(screen.getByRole('button', { name: 'Pause' }).title).toContain('Waiting runs keep waiting');
  });

  it('is compared chunk by chunk with a result file of the original VirNucPro that is dropped on it', async () => {
    const { user } = await openRun('done', 'results');
    await screen.findByRole('button', { name: 'Columns, comparisons, other tools and command' });
    const { items } = await api.results.page({
      ...{ runId: RUN_IDS.done, offset: 0, limit: 2, sort: { by: 'virusScore', descending: true } },
      filter: { predictions: ['virus'] },
    });
    const lines = await Promise.all(
      items.map(async ({ row, seqName }, index) => {
        const { chunks } = await api.results.chunks({ runId: RUN_IDS.done, row });
        return `${seqName}_chunk_${chunks.findIndex(({ isVirus }) => isVirus) + 1}\t${index === 0 ? 'True' : 'False'}`;
      }),
    );
    await dropTable('prediction_results_highestscore.csv', 'Modified_ID\tIs_Virus', ...lines);
    await screen.findByText(/2 chunks are in both; 1/);
    const calls = screen.getByRole('table', { name: 'Calls of the chunks' });
    expect(
      within(calls)
        .getAllByRole('cell')
        .map((cell) => cell.textContent),
    ).toEqual(['1', '1', '0', '0']);
    const differing = screen.getByRole('table', { name: /^Chunks with another call/ });
    const [first] = within(differing).getAllByRole('button');
    if (first) await user.click(first);
    await screen.findByRole('button', { name: 'Columns, comparisons, other tools and command' });
    expect(useResultsView.getState()).toMatchObject({ openRow: items[1]?.row });
  });

  it('asks what a virus is in a table of another tool that makes no calls, and can be asked again', async () => {
    const { user } = await openRun('done', 'results');
    await screen.findByRole('button', { name: 'Columns, comparisons, other tools and command' });
    await dropTable('scores.csv', 'name,virus_score', 'k141_7919,0.95');
    const dialog = await screen.findByRole('dialog', { name: 'What is a virus by scores.csv?' });
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await screen.findByText(/makes no call until you say/);
    const table = within(screen.getByRole('region', { name: 'scores.csv' }));
    await user.click(table.getByRole('button', { name: 'Say what is a virus …' }));
    const save = () => screen.getByRole('button', { name: 'Make the calls' });
    expect(save()).toHaveProperty('disabled', true);
    await user.click(screen.getByRole('combobox', { name: 'Column that says it' }));
    await user.click(await screen.findByRole('option', { name: 'virus_score', hidden: true }));
    await user.type(screen.getByRole('textbox', { name: 'A virus is' }), '>=0.9');
    await user.click(save());
    await screen.findByText(/by this rule: virus_score >=0.9/);
  });

  it('is marked on every screen if it used the teaching model', async () => {
    await renderWithEngine(<App />);
    for (const tab of ['progress', 'files', 'results'] as const) {
      act(() => go({ screen: 'run', runId: RUN_IDS.teaching, tab }));
      await screen.findByText('Not for research');
    }
  });

  it('follows the snapshots of the run on screen only', async () => {
    await openRun('running', 'progress');
    await waitFor(() => expect(useLiveRun.getState().live?.run.runId).toBe(RUN_IDS.running));
    act(() => go({ screen: 'run', runId: RUN_IDS.halted, tab: 'progress' }));
    await waitFor(() => expect(useLiveRun.getState().live?.run.runId).toBe(RUN_IDS.halted));
    await screen.findByText('Disk is full');
  });

  it('on a cluster lists its devices with their nodes, and how many shares wait', async () => {
    await openRun('running', 'progress', { runs: 'many', devices: 8, nodes: 4 });
    await screen.findByText('The SLURM cluster has not started 2 shares of this run yet.');
    screen.getByText('Priority');
    await screen.findByRole('row', { name: /^GPU 1 of gpu-node-4 / });
    // Each share decides on its own devices.
    expect(screen.queryByRole('button', { name: 'Processors and GPUs' })).toBeNull();
  });
});

describe('the computer check', () => {
  it('measures the devices’ speed, on which New run then bases its estimate', async () => {
    const { user } = await withContigs();
    act(() => choose({ model: '300' }));
    const link = await screen.findByRole('link', { name: 'Measure speed' });
    expect(link.getAttribute('href')).toBe('#/computer');
    act(() => go({ screen: 'computer' }));
    const card = await screen.findByRole('region', { name: 'Measure speed: Speed' });
    await user.click(within(card).getByRole('button', { name: 'Measure speed: Speed' }));
    await within(card).findByText(/106,990 residues per second, 91 % .* 19,064 frames per second/);
    within(card).getByText(/It did not answer in time/);
    act(() => go({ screen: 'new-run' }));
    await screen.findByText(/^From the speed measured on /);
  });

  it('does not measure the speed while a run is at work, and explains why', async () => {
    await renderWithEngine(<App />);
    act(() => go({ screen: 'computer' }));
    const card = await screen.findByRole('region', { name: 'Measure speed: Speed' });
    await within(card).findByText(/A run is being computed/);
    const measure = within(card).getByRole('button', { name: 'Measure speed: Speed' });
    expect(measure).toHaveProperty('disabled', true);
  });
});

describe('the window', () => {
  it('asks on every screen whether to resume an interrupted run', async () => {
    const { user } = await opened();
    await screen.findByText('“Bat guano 2025” was interrupted; continue?');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    await waitFor(() => expect(useNavigation.getState().route).toMatchObject({ runId: RUN_IDS.interrupted }));
    await waitFor(() => expect(screen.queryByText(/was interrupted; continue/)).toBeNull());
  });

  it('contains the guide, with its pictures, in English whatever language the window has', async () => {
    const { user } = await opened({ runs: 'none' });
    act(() => go({ screen: 'help' }));
    const guide = within(await screen.findByRole('region', { name: 'Guide' }));
    expect(guide.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual(
      GUIDE_PAGES.map((page) => `#/guide/${page}`),
    );
    act(() => go({ screen: 'guide', page: 'first-run' }));
    await screen.findByRole('heading', { level: 1, name: 'First run' });
    expect(screen.getByRole('img', { name: 'The set-up at work' })).toHaveProperty(
      'src',
      expect.stringMatching(/biologist-02-setting-up.*\.webp$/),
    );
    expect(screen.getByRole('link', { name: 'requirements' }).getAttribute('href')).toBe(
      '#/guide/requirements',
    );
    act(() => go({ screen: 'guide', page: 'methods' }));
    const paper = await screen.findByRole('link', { name: '10.1093/bib/bbaf224' });
    expect(paper).toHaveProperty('target', '_blank');
    act(() => go({ screen: 'guide', page: 'first-run' }));
    await waitFor(() => expect(useSettings.getState().settings).not.toBeNull());
    await act(() => changeSettings({ language: 'de' }));
    expect(document.documentElement.lang).toBe('de');
    act(() => go({ screen: 'guide', page: 'requirements' }));
    const title = await screen.findByRole('heading', { level: 1, name: 'What a computer needs' });
    expect(title.getAttribute('lang')).toBe('en');
    // A link to a page that the window does not have becomes plain text.
    expect(screen.queryByRole('link', { name: 'performance' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Zurück zur Hilfe' }));
    await screen.findByRole('region', { name: 'Anleitung (auf Englisch)' });
  });
});
