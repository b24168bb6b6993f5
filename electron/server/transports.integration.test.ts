import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient, ORPCError } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { isContractProcedure, type ContractRouterClient } from '@orpc/contract';
import { RPCHandler } from '@orpc/server/message-port';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appErrorSchema, contract, type ErrorCode } from '../contract/index.ts';
import { type Service, serviceRouter, type WindowContext } from '../engine/index.ts';
import { openTestService } from '../engine/service/testing/testService.ts';
import { APP_PATHS } from '../engine/testing/realFiles.ts';
import { WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { rootPolicy } from './requestGuard.ts';
import { startServer, type RunningServer } from './startServer.ts';
import { socketClient } from './testing/socketClient.ts';

/** A file that may be read with any root. */
const EXAMPLE = join(APP_PATHS.resources, 'example.fa');

type Client = ContractRouterClient<typeof contract>;

/** These calls start workers, so they are tested over one transport only; the shell's tests use the other. */
const COMPUTING = ['computer.check', 'computer.setUpPython', 'computer.runCheck'];

/** Every call of the contract by its dotted name. */
const procedures = [...walk(contract)];

function* walk(router: object, path: string[] = []): Generator<[name: string, call: { errorMap: object }]> {
  for (const [key, value] of Object.entries(router) as [string, object][]) {
    const call: unknown = value;
    if (isContractProcedure(call))
      yield [[...path, key].join('.'), { errorMap: call['~orpc'].errorMap as object }];
    else yield* walk(value, [...path, key]);
  }
}

function at(tree: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], tree);
}

describe.skipIf(WITHOUT_PYTHON)('every call, over both transports', () => {
  let service: Service;
  let folder: string;
  let server: RunningServer;
  let runId: string;
  const clients: Partial<Record<'WebSocket' | 'MessagePort', Client>> = {};
  const closing: (() => void)[] = [];

  beforeAll(async () => {
    ({ service, folder } = await openTestService());
    const pageFolder = join(folder, 'page');
    await mkdir(pageFolder);
    await writeFile(join(pageFolder, 'index.html'), '<!doctype html>');
    server = await startServer(service, {
      host: '127.0.0.1',
      port: 0,
      root: folder,
      pageFolder,
      allowNetwork: false,
      onNewAddress: () => undefined,
    });
    const overSocket = await socketClient(server.address());
    clients.WebSocket = overSocket.client;
    closing.push(overSocket.close);
    clients.MessagePort = await portClient();
    ({ runId } = await clients.WebSocket.runs.runExample());
    for await (const live of await clients.WebSocket.runs.watch({ runId })) {
      if (live.run.state.phase === 'done') break;
      if (live.run.state.phase === 'paused') throw new Error(JSON.stringify(live.run.state));
    }
  });

  afterAll(async () => {
    for (const close of closing) close();
    await server.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Connects as in Electron, with a desktop that gives the answers a test needs. */
  async function portClient(): Promise<Client> {
    const context: WindowContext = {
      shell: 'electron',
      paths: await rootPolicy(folder),
      desktop: {
        chooseFiles: () => Promise.resolve([EXAMPLE]),
        chooseFolder: () => Promise.resolve(folder),
        chooseSaveFile: (name) => Promise.resolve(join(folder, name)),
        grantPaths: () => Promise.resolve({ ok: true, value: undefined }),
        revealInFolder: () => undefined,
        openFile: () => Promise.resolve({ ok: true, value: undefined }),
        restart: () => undefined,
        pdfOf: async (page) => Buffer.from(`%PDF of ${(await readFile(page, 'utf8')).slice(0, 15)}`),
        copyText: () => Promise.resolve(),
        searchBlast: () => Promise.resolve(),
      },
    };
    const { port1, port2 } = new MessageChannel();
    new RPCHandler(serviceRouter(service)).upgrade(port1, { context: { window: context } });
    port1.start();
    port2.start();
    closing.push(() => {
      port2.close();
    });
    return createORPCClient(new PortLink({ port: port2 }));
  }

  /**
   * The input of each call for the finished example, and the refusal if a finished run makes the call
   * pointless.
   */
  const table = (
    shell: 'WebSocket' | 'MessagePort',
  ): [name: string, input: unknown, refusal?: ErrorCode | undefined][] => {
    const byRun = { runId };
    const inBrowser = shell === 'WebSocket' ? ('usage' as const) : undefined;
    const request = { inputs: [EXAMPLE], model: 'teaching', devices: 'cpu:1' };
    return [
      ['computer.info', undefined],
      ['computer.devices', undefined],
      ['computer.models', undefined],
      ['computer.check', undefined],
      ['computer.environment', undefined],
      ['computer.setUpPython', undefined],
      ['computer.cancelSetUp', undefined],
      ['computer.freeSpace', { folder }],
      ['computer.checks', undefined],
      ['computer.runCheck', { check: 'controls', model: 'teaching' }],
      ['computer.getWeights', { model: 'no such model' }],
      ['computer.pauseWeights', { model: 'no such model' }],
      ['computer.weightsUnderWay', undefined],
      ['computer.verifyModel', { model: 'no such model' }, 'input_unreadable'],
      ['computer.removeModel', { model: 'no such model' }, 'model_unknown'],
      ['computer.importWeights', { paths: [EXAMPLE] }],
      ['computer.offlineChoices', undefined],
      // Neither a folder to pack into nor a packed one: it holds other files.
      ['computer.packOffline', { folder, gpu: 'none', models: [] }],
      ['computer.cancelPacking', undefined],
      ['computer.lookAtOfflineFolder', { folder }],
      ['computer.setUpFromFolder', { folder }],
      ['computer.diagnostics', undefined],
      ['computer.calibration', { model: 'teaching' }],
      ['computer.settings', undefined],
      ['computer.changeSettings', { theme: 'dark' }],
      ['computer.browse', { folder: null }],
      ['computers.list', undefined, inBrowser],
      ['computers.add', { name: 'Far', address: 'anna@far' }, inBrowser],
      ...(
        [
          ['connect', {}],
          ['disconnect', {}],
          ['answer', { answer: null }],
          ['transfer', { path: EXAMPLE }],
          ['remove', {}],
        ] as const
      ).map(
        // These name a computer that does not exist.
        ([name, input]): [string, unknown, ErrorCode] => [
          `computers.${name}`,
          { id: '2f1e8a52-4f0e-4a7b-9f0f-0d6a3a6b1c11', ...input },
          'usage',
        ],
      ),
      ['runs.watchAll', undefined],
      ['runs.inspect', { paths: [EXAMPLE] }],
      ['runs.estimate', { request, chunks: 200, frames: 184, residues: 29_000 }],
      ['runs.create', { inputs: [join(folder, 'missing.fa')], model: 'teaching' }, 'input_not_found'],
      ['runs.watch', byRun],
      ['runs.deviceHistory', byRun],
      ['runs.expectedShares', byRun],
      ['runs.files', byRun],
      ['runs.openFile', { ...byRun, name: 'sequences.tsv' }, inBrowser],
      ['runs.download', { ...byRun, name: 'sequences.tsv' }, inBrowser ? undefined : 'usage'],
      ['runs.annotate', { ...byRun, name: 'Another name', note: 'Seen', tags: ['gut'] }],
      ['runs.verify', byRun],
      ['runs.events', byRun],
      ['runs.inputs', byRun],
      ['runs.parts', byRun],
      ['runs.readLog', { ...byRun, path: 'logs/prepare.log' }],
      ['runs.folderSize', byRun],
      ['runs.pause', byRun, 'usage'],
      ['runs.cancel', byRun, 'usage'],
      ['runs.finishNow', byRun, 'usage'],
      ['runs.retry', { ...byRun, parts: 'all' }, 'usage'],
      ['runs.skip', { ...byRun, parts: ['000000'] }, 'usage'],
      ['runs.settleInput', { ...byRun, file: 'none.fa', path: null }, 'usage'],
      ['runs.setGoal', { ...byRun, goal: null }],
      ['runs.includeDevice', { ...byRun, device: 'cpu:0', included: false }, 'usage'],
      ['results.page', byRun],
      ['results.counts', byRun],
      ['results.histogram', byRun],
      ['results.lengths', byRun],
      ['results.chunks', { ...byRun, row: 1 }],
      ['results.letters', { ...byRun, row: 1 }],
      ['results.shortlist', { ...byRun, row: 1, shortlisted: true }],
      ['results.shortlisted', byRun],
      ['results.compare', { runId, otherRunId: runId }],
      ['results.comparedPage', { runId, otherRunId: runId, list: 'shortlisted' }],
      ['results.samples', byRun],
      ['results.otherTables', byRun],
      // The file is no table.
      ['results.addOtherTable', { ...byRun, path: EXAMPLE }, 'usage'],
      ['results.compareOriginal', { ...byRun, path: EXAMPLE }, 'usage'],
      ['results.callOtherTable', { ...byRun, table: 0, rule: { column: null, virus: 'all' } }],
      ['results.removeOtherTable', { ...byRun, table: 0 }],
      ['results.setSamples', { ...byRun, names: [] }],
      ['results.exportFormats', undefined],
      ['results.query', { ...byRun, sql: 'SELECT 1' }],
      ['results.saveQuery', { ...byRun, sql: 'SELECT 1', path: join(folder, 'answer.tsv') }],
      ['results.export', { ...byRun, format: 'csv', path: join(folder, 'export.csv') }],
      ['shell.chooseFiles', { purpose: 'weights' }, inBrowser],
      ['shell.chooseFolder', { purpose: 'offline' }, inBrowser],
      ['shell.chooseSaveFile', { suggestedName: 'a.tsv' }, inBrowser],
      ['shell.grantPaths', { paths: [EXAMPLE] }, inBrowser],
      ['shell.revealInFolder', { path: folder }, inBrowser],
      // No export has written it.
      ['shell.openExport', { path: EXAMPLE }, 'usage'],
      ['shell.restart', undefined, inBrowser],
      ['shell.copyText', { text: 'a' }, inBrowser],
      ['shell.searchBlast', { program: 'blastn', query: 'ACGT' }, inBrowser],
      ['runs.remove', { ...byRun, files: 'keep' }],
      ['runs.open', { folder: service.catalog.has(runId) ? service.catalog.folder(runId) : '' }],
      ['runs.resume', byRun],
      ['runs.runExample', undefined],
    ];
  };

  it('has typed errors, and is in the table', () => {
    expect(procedures.length).toBeGreaterThan(40);
    for (const [name, { errorMap }] of procedures) expect(Object.keys(errorMap), name).toEqual(['APP']);
    const names = table('WebSocket').map(([name]) => name);
    expect(names.toSorted()).toEqual(procedures.map(([name]) => name).toSorted());
  });

  it.each(['WebSocket', 'MessagePort'] as const)(
    'answers or refuses with a message over a %s',
    async (transport) => {
      const client = clients[transport];
      for (const [name, input, refusal] of table(transport)) {
        if (transport === 'MessagePort' && COMPUTING.includes(name)) continue;
        // This call started the run that all the others use, over the WebSocket.
        if (name === 'runs.runExample') continue;
        const call = at(client, name) as (input: unknown) => Promise<unknown>;
        const outcome = await call(input)
          .then(firstOf)
          .catch((reason: unknown) => reason);
        if (outcome instanceof ORPCError && outcome.code === 'APP') {
          expect.soft([name, appErrorSchema.parse(outcome.data).code]).toEqual([name, refusal]);
        } else {
          expect(outcome, name).not.toBeInstanceOf(Error);
          expect.soft([name, refusal]).toEqual([name, undefined]);
        }
      }
      await settled();
    },
  );

  /** Reads streams up to their first event. */
  async function firstOf(answer: unknown): Promise<unknown> {
    if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
    for await (const event of answer as AsyncIterable<unknown>) return event;
    return undefined;
  }

  async function settled(): Promise<void> {
    const done = new AbortController();
    for await (const runs of service.list.watch(done.signal)) {
      if (service.control.queue.active === null && runs.every(({ state }) => state.phase === 'done')) break;
    }
  }

  it("makes a PDF of a report on the desktop, and explains where it can't", async () => {
    const runId = service.catalog.all()[0]?.runId ?? '';
    const path = join(folder, 'report.pdf');
    const order = { runId, format: 'report', isPdf: true, path };
    const report = async (client: Client | undefined) => {
      for await (const event of (await client?.results.export(order)) ?? [])
        if (event.type === 'written') return event;
      return undefined;
    };
    expect(await report(clients.MessagePort)).toMatchObject({ path, bytes: 23 });
    expect(await readFile(path, 'utf8')).toBe('%PDF of <!doctype html>');
    await expect(report(clients.WebSocket)).rejects.toMatchObject({ code: 'APP' });
  });

  it('refuses input that the schema does not allow, with a message', async () => {
    const call = clients.MessagePort?.runs.folderSize({ runId: 'nonsense' });
    await expect(call).rejects.toMatchObject({ code: 'APP', data: { code: 'usage' } });
  });

  it('ends streams for windows that close, and lets two windows watch one run', async () => {
    // Created one after the other, because a token admits one browser.
    const first = await socketClient(server.address());
    const second = await socketClient(server.address());
    const watches = await Promise.all([first, second].map(({ client }) => client.runs.watchAll()));
    const seen = await Promise.all(watches.map((watch) => watch.next()));
    expect(seen[0]).toEqual(seen[1]);
    expect(service.list.watched).toBe(true);
    for (const { close } of [first, second]) close();
    await expect.poll(() => service.list.watched).toBe(false);
  });
});
