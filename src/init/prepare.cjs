// Preloaded by the sandbox's Node before the program. Decides how the program means to be read and gets out of the way:
// - CommonJS unless its own syntax says ES module; then /workspace/main.cjs becomes main.mjs, with require, module, exports,
//   __filename and __dirname still there, so that the mixes people and models write just run;
// - writes to stdout and stderr wait for the reader: Node drops what a pipe could not take when process.exit is called.
'use strict';
const { isMainThread } = require('node:worker_threads');
const kMain = '/workspace/main.cjs';

if (isMainThread && process.argv[1] === kMain) {
  const fs = require('node:fs');
  const Module = require('node:module');
  // Children of child_process.fork start plain.
  process.execArgv = process.execArgv.filter((argument) => !argument.startsWith('--require='));
  delete require.cache[__filename];
  blockingWrites('stdout');
  blockingWrites('stderr');
  if (isWaiting(fs)) {
    waitThenRun(fs, Module);
  } else {
    const main = chooseMain(fs, Module);
    // Node has resolved its argument before this file is read: another one has to be said here.
    if (main !== kMain) replaceRunMain(Module, (runMain) => runMain.call(Module, main));
  }
}

// The file to run, with what an ES module is given of CommonJS.
function chooseMain(fs, Module) {
  if (!isEsModule(fs.readFileSync(kMain, 'utf8'))) return kMain;
  const main = '/workspace/main.mjs';
  fs.renameSync(kMain, main);
  process.argv[1] = main;
  const names = { require: Module.createRequire(main), module: new Module(main), __filename: main, __dirname: '/workspace' };
  names.module.filename = main;
  names.exports = names.module.exports;
  for (const [name, value] of Object.entries(names)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }
  return main;
}

function replaceRunMain(Module, run) {
  const runMain = Module.runMain;
  Module.runMain = () => {
    Module.runMain = runMain;
    run(runMain);
  };
}

// A sandbox that was started ahead has a pipe for its words at 3, a payload at 4 and a pipe that says go at 5, and its program comes later.
function isWaiting(fs) {
  try {
    return fs.fstatSync(3).isFIFO() && fs.fstatSync(4).isFile() && fs.fstatSync(5).isFIFO() && !fs.existsSync(kMain);
  } catch {
    return false;
  }
}

// struct Control of asg/sandbox/protocol.hpp.
function control(fs, type, value) {
  const message = Buffer.alloc(16);
  message.writeUInt32LE(type, 0);
  message.writeUInt32LE(value, 4);
  fs.writeSync(3, message);
}

function waitThenRun(fs, Module) {
  const kExited = 2, kReady = 4, kRunning = 6;
  warmUp();
  replaceRunMain(Module, (runMain) => {
    // Inside the event loop, so that its first turn is behind us when the program comes.
    setTimeout(() => setImmediate(() => {
      control(fs, kReady, 0);
      if (fs.readSync(5, Buffer.alloc(16)) !== 16) process.reallyExit(0);
      takePayload(fs);
      sayHowItEnds(fs, kExited);
      control(fs, kRunning, 0);
      // From the loop itself: no frame of ours stands below the program's.
      setImmediate(runMain.bind(Module, chooseMain(fs, Module)));
    }), 1);
  });
}

// The paths that a first console.log and a first require go, without output.
function warmUp() {
  const { Console } = require('node:console');
  const { Writable } = require('node:stream');
  new Console(new Writable({ write: (chunk, encoding, done) => done() })).log(1, 'a', { b: [1] });
  process.stdout.write('');
  process.stderr.write('');
  asCommonJs('const f = (x) => x + 1; [1].map(f); require("fs")');
}

// src/sandbox/payload.hpp: variables, then files, the program first.
function takePayload(fs) {
  const path = require('node:path');
  const bytes = fs.readFileSync(4);
  let at = 0;
  const number = () => { at += 8; return Number(bytes.readBigUInt64LE(at - 8)); };
  const text = () => { const size = number(); at += size + 1; return bytes.toString('utf8', at - size - 1, at - 1); };
  for (let count = number(); count > 0; count--) {
    const variable = text();
    const equals = variable.indexOf('=');
    process.env[variable.slice(0, equals)] = variable.slice(equals + 1);
  }
  for (let count = number(); count > 0; count--) {
    const name = text();
    const size = number();
    if (name.includes('/')) fs.mkdirSync(path.dirname(name), { recursive: true });
    fs.writeFileSync(name, bytes.subarray(at, at + size), { flag: 'wx', mode: 0o644 });
    at += size;
  }
  fs.closeSync(4);
  fs.closeSync(5);
}

// Tearing an environment down takes longer than most programs: after the program's own exit handlers its status is said, and
// the process ends. A fatal exception is printed after those handlers, so it goes the long way.
function sayHowItEnds(fs, kExited) {
  let fatal = false;
  const { emit, reallyExit, _fatalException: fatalException, pid } = process;
  process._fatalException = function (...parameters) {
    fatal = true;
    const caught = fatalException.apply(this, parameters);
    if (caught) fatal = false;
    return caught;
  };
  const hidden = { writable: true, configurable: true, enumerable: false };
  Object.defineProperty(process, 'emit', {
    ...hidden,
    value: function (name, ...parameters) {
      const result = emit.call(this, name, ...parameters);
      if (name === 'exit' && !fatal && process.pid === pid) {
        const status = (process.exitCode ?? parameters[0] ?? 0) & 0xff;
        control(fs, kExited, status << 8);
        reallyExit.call(process, status);
      }
      return result;
    },
  });
}

function blockingWrites(name) {
  const property = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      const stream = property.get.call(process);
      Object.defineProperty(process, name, { ...property });
      stream._handle?.setBlocking?.(true);
      return stream;
    },
    set: property.set,
  });
}

// The message of the syntax error, if any.
function fault(compile) {
  try {
    compile(require('node:vm'));
    return '';
  } catch (error) {
    return error instanceof SyntaxError ? error.message : '';
  }
}

function asScript(source) {
  return fault((vm) => new vm.Script(source, { filename: kMain }));
}

function asCommonJs(source) {
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  return fault((vm) => vm.compileFunction(source, names, { filename: kMain }));
}

function isEsModule(text) {
  const source = text.replace(/^\uFEFF/, '').replace(/^#!.*/, '');
  if (!/\b(?:import|export|await)\b/.test(source)) return false;
  const kModuleWords = /import statement|'import\.meta'|token 'export'|await is only valid/;
  const commonJs = asCommonJs(source);
  if (kModuleWords.test(commonJs)) return true;
  if (!/\bawait\b/.test(source)) return false;
  if (commonJs) {
    // Inside an expression, V8 stumbles over what follows "await" and does not name it: read it where it is a keyword.
    const inAsync = asScript(`(async () => {${source}\n})`);
    return !inAsync || kModuleWords.test(inAsync);
  }
  // "await (x)" and "await [x]" also read as a call and an index of something named await. In a static block the name is
  // reserved, while functions inside it read as ever.
  return /\bawait\s*[([`+\-/]/.test(source) && /await|reserved word/.test(asScript(`class C { static {${source}\n} }`));
}
