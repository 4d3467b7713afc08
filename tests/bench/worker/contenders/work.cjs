// The handler of both contenders of Node: the milliseconds that the next message takes.
const takesMs = 1000 * Number(process.env.BENCH_TAKES_S);
const stragglerEvery = Number(process.env.BENCH_STRAGGLER_EVERY);
let number = 0;

exports.nextTakesMs = () => (stragglerEvery && ++number % stragglerEvery === 0 ? 2000 : takesMs);
