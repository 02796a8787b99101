// Takes the merges of a tokeniser's state, once, for all that cuts words by them in this tab.

const KEPT = 3; // states

export default function ({ data, parentElement }) {
  hide(parentElement);
  const known = (globalThis.morphgraphTables ??= new Map());
  const [state, cutter] = Cutter.unpack(data);
  if (known.has(state)) return;
  known.set(state, cutter);
  while (known.size > KEPT) known.delete(known.keys().next().value);
  dispatchEvent(new Event("morphgraph-tables"));
}
