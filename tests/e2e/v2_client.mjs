// The second generation of the official client: v2_client.mjs URL legacy|auto|PINNED-VERSION. Prints JSON that
// test_protocol_clients.py judges.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode] = process.argv.slice(2);
const pinned = /^\d/.test(mode) ? { pin: mode } : mode;
const faults = [];
const client = new Client({ name: 'asg-e2e', version: '2.0.0' }, { versionNegotiation: { mode: pinned } });
client.onerror = (error) => faults.push(String(error?.message));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const call = (args, options) => client.callTool({ name: 'sandbox_execute', arguments: args }, options);
const error = (promise) => promise.then((answer) => ({ answer }), (e) => ({ code: e.code, message: e.message }));

const { tools } = await client.listTools();
const python = await call({ language: 'python', code: 'print(6 * 7)' });
const failed = await call({ language: 'javascript', code: 'console.error("bad"); process.exit(3)' });
const refused = await call({ language: 'ruby', code: '1' });
const unknown = await error(client.callTool({ name: 'no_such', arguments: {} }));

const progress = [];
const slow = await call({ language: 'python', code: 'import time; time.sleep(1); print(1)' },
  { onprogress: (step) => progress.push(step.progress) });

const leaving = new AbortController();
setTimeout(() => leaving.abort('user'), 500);
const aborted = await error(call({ language: 'python', code: 'import time; time.sleep(30)' }, { signal: leaving.signal }));
const after = await call({ language: 'python', code: "print('after')" });

console.log(JSON.stringify({
  era: client.getProtocolEra(), version: client.getNegotiatedProtocolVersion(), server: client.getServerVersion(),
  tools, python, failed, refused, unknown, progress, slow, aborted, after, faults,
}));
await client.close();
