// The SQS server of fauxqs (npm) on loopback only; its own command listens everywhere. Prints its URL.
// It keeps nothing on disk here, so that Node 20, which has no node:sqlite, can run it too.
import { isBuiltin, register } from "node:module";
import { pathToFileURL } from "node:url";

if (!isBuiltin("node:sqlite")) {
  const nothing = "data:text/javascript,export class DatabaseSync {}";
  const hook = `export const resolve = (name, context, next) =>
    name === "node:sqlite" ? { url: ${JSON.stringify(nothing)}, shortCircuit: true } : next(name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
const { buildApp } = await import(pathToFileURL(`${process.env.NODE_PATH}/fauxqs/dist/app.js`));
const app = buildApp({ logger: false });
console.log(await app.listen({ port: 0, host: "127.0.0.1" }));
process.stdin.on("end", () => process.exit(0)).resume();
