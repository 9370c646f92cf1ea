// A call that is longer than the clients' usual patience of a minute, by both generations at once: long_client.mjs URL SECONDS.
// They wait twelve seconds for each sign of life. Prints JSON that test_protocol_long.py judges.
import { Client as First } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Second, StreamableHTTPClientTransport as SecondTransport } from '@modelcontextprotocol/client';

const url = new URL(process.argv[2]);
const seconds = Number(process.argv[3]);
const request = {
  name: 'sandbox_execute',
  arguments: { language: 'python', code: `import time; time.sleep(${seconds}); print('slept')`, timeout_seconds: seconds + 20 },
};

async function run(client, transport, call) {
  await client.connect(transport);
  const progress = [];
  const result = await call({
    timeout: 12_000,
    resetTimeoutOnProgress: true,
    onprogress: (step) => progress.push({ ...step, at: performance.now() }),
  });
  await client.close();
  return { result, progress };
}

const first = new First({ name: 'asg-e2e', version: '1.0.0' });
const second = new Second({ name: 'asg-e2e', version: '2.0.0' }, { versionNegotiation: { mode: 'auto' } });
const [one, two] = await Promise.all([
  run(first, new FirstTransport(url), (options) => first.callTool(request, undefined, options)),
  run(second, new SecondTransport(url), (options) => second.callTool(request, options)),
]);
console.log(JSON.stringify({ one, two }));
