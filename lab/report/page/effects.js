// What a page of several runs draws of its groups: {name, values, colour, mean, low, high, seeds},
// with the value of each key (lab/report/sweep_page.h). Nothing here draws.

const without = (list, index) => list.filter((_, i) => i !== index);

// "heads=4, lr=0.001"
export const settings = (names, values) =>
  names.map((name, i) => `${name}=${values[i]}`).join(", ");

// The mean that an axis shows, a geometric one on a logarithmic axis; null without values.
export function meanOf(values, log) {
  if (!values.length) return null;
  const terms = log ? values.map(Math.log) : values;
  const mean = terms.reduce((sum, term) => sum + term, 0) / terms.length;
  return log ? Math.exp(mean) : mean;
}

// The names of the panels of curves, by the dash of a group: its values of all keys but the first.
export function panelNames({ keys = [], groups = [] }) {
  const names = [];
  for (const { dash, values } of groups)
    names[dash] = settings(
      keys.slice(1).map(({ name }) => name),
      values.slice(1),
    );
  return names;
}

// The score of each seed at each value of the key with this index, the other keys held:
// {columns: [value], seeds: [{name, colour, values: [score or null]}], means: [mean or null]}
export function effectOf({ keys, groups, log }, index) {
  const columns = keys[index].values;
  const others = without(
    keys.map(({ name }) => name),
    index,
  );
  const lines = new Map();
  for (const group of groups) {
    const held = settings(others, without(group.values, index));
    for (const { seed, value } of group.seeds) {
      const name = `${held ? `${held}, ` : ""}seed ${seed}`;
      const colour = index === 0 ? 0 : group.colour;
      if (!lines.has(name)) lines.set(name, { name, colour, values: columns.map(() => null) });
      lines.get(name).values[columns.indexOf(group.values[index])] = value;
    }
  }
  const seeds = [...lines.values()];
  const means = columns.map((_, i) => {
    const known = seeds.map(({ values }) => values[i]).filter((value) => value !== null);
    return meanOf(known, log);
  });
  return { columns, seeds, means };
}

// The means of groups over the values of the second key, with a line for each value of the first:
// {key, columns: [value], lines: [{name, colour, points: [{mean, low, high}, or {} for none]}]}
export function interactionOf({ keys, groups, differences }) {
  const [{ keys: two }] = differences.tables.find((each) => each.of === "interaction").rows;
  const [of, over] = two.map((name) => keys.findIndex((key) => key.name === name));
  const columns = keys[over].values;
  const lines = keys[of].values.map((value) => {
    const own = groups.filter((group) => group.values[of] === value);
    return {
      name: settings([keys[of].name], [value]),
      colour: own[0]?.colour ?? 0,
      points: columns.map((column) => own.find((group) => group.values[over] === column) ?? {}),
    };
  });
  return { key: keys[over].name, columns, lines };
}

// The size of the effect of the key with this index, from the first of its values to the second, as
// the table of differences has it; null of a key with more values.
export function sizeOfEffect({ keys, differences }, index) {
  const { name, values } = keys[index];
  const find = (of, isIt) =>
    differences.tables.find((each) => each.of === of)?.rows.filter(isIt) ?? [];
  const own = find("keys", (row) => row.keys.length === 1 && row.keys[0] === name);
  const known = own.length || keys.length > 1 ? own : find("groups", ({ pairs }) => pairs);
  if (values.length !== 2 || known.length !== 1 || known[0].size === null) return null;
  const [
    {
      size,
      values: [to],
    },
  ] = known;
  return to === values[1] ? size : differences.log ? 1 / size : -size;
}
