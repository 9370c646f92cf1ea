// The official TypeScript client against a server: ts_client.mjs URL. Prints JSON that test_ts_client.py judges.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'asg-e2e', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

// callTool as the product page writes it, in terms of the SDK.
const callTool = (name, args) => client.callTool({ name, arguments: args });

const { tools } = await client.listTools();
const python = await callTool('sandbox_execute', { language: 'python', code: 'import math\nprint(math.sqrt(144))' });
const javascript = await callTool('sandbox_execute', { language: 'javascript', code: "console.log(6 * 7)" });
const failed = await callTool('sandbox_execute', { language: 'python', code: 'raise SystemExit(3)' });
const picture = await callTool('sandbox_execute', {
  language: 'python',
  code: "from PIL import Image\nimage = Image.open('in.png').resize((8, 8)); image.save('out.png'); open('note.txt', 'w').write('done')",
  files: [{ path: 'in.png', encoding: 'base64', content: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' }],
  output_files: ['*.png', 'note.txt'],
});
const refused = await callTool('sandbox_execute', { language: 'ruby', code: '1' });

// The client gives up on its own time limit or by a signal; the run ends with it and the connection serves on.
const leaving = new AbortController();
setTimeout(() => leaving.abort(), 500);
const aborted = await client
  .callTool({ name: 'sandbox_execute', arguments: { language: 'python', code: 'import time; time.sleep(30)' } }, undefined, { signal: leaving.signal })
  .then(() => 'answered', () => 'aborted');
const after = await callTool('sandbox_execute', { language: 'python', code: "print('after')" });

const progress = [];
const slow = await client.callTool(
  { name: 'sandbox_execute', arguments: { language: 'python', code: 'import time; time.sleep(1); print(1)' } },
  undefined,
  { onprogress: (step) => progress.push(step.progress) },
);
await client.ping();
console.log(JSON.stringify({ server: client.getServerVersion(), tools, python, javascript, failed, picture, refused, aborted, after, slow, progress }));
await client.close();
