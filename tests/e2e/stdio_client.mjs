// Both generations of the official client over standard input and output: stdio_client.mjs first|second COMMAND ARGUMENT...
// Prints JSON that test_protocol_stdio.py judges.
import { Client as First } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Second } from '@modelcontextprotocol/client';
import { StdioClientTransport as SecondTransport } from '@modelcontextprotocol/client/stdio';

const [generation, command, ...args] = process.argv.slice(2);
const isFirst = generation === 'first';
const faults = [];
const client = isFirst
  ? new First({ name: 'asg-e2e', version: '1.0.0' })
  : new Second({ name: 'asg-e2e', version: '2.0.0' }, { versionNegotiation: { mode: 'auto' } });
client.onerror = (error) => faults.push(String(error?.message));
const transport = new (isFirst ? FirstTransport : SecondTransport)({ command, args, stderr: 'ignore' });
await client.connect(transport);

const call = (args, options) =>
  isFirst
    ? client.callTool({ name: 'sandbox_execute', arguments: args }, undefined, options)
    : client.callTool({ name: 'sandbox_execute', arguments: args }, options);

const { tools } = await client.listTools();
const python = await call({ language: 'python', code: 'print(6 * 7)' });
const refused = await call({ language: 'ruby', code: '1' });
const many = await Promise.all([1, 2, 3].map((n) => call({ language: 'javascript', code: `console.log(${n})` })));

const leaving = new AbortController();
setTimeout(() => leaving.abort('user'), 500);
const started = performance.now();
const aborted = await call({ language: 'python', code: 'import time; time.sleep(30)' }, { signal: leaving.signal })
  .then(() => 'answered', () => 'aborted');
const after = await call({ language: 'python', code: "print('after')" });
const progress = [];
const slow = await call({ language: 'python', code: 'import time; time.sleep(1); print(1)' },
  { onprogress: (step) => progress.push(step.progress) });

const closing = performance.now();
await client.close();
console.log(JSON.stringify({ tools, python, refused, many, aborted, after, progress, slow, faults,
  abortedAfter: closing - started, closedAfter: performance.now() - closing }));
