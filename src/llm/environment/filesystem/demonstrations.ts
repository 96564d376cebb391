/**
 * How many demonstrations of each family the warm start of the main job shows. Families of one plain call get next to
 * none, since reinforcement learning finds those by itself; deciding and gathering get most, since an agent that never
 * succeeds has nothing to learn from.
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 5,
  write: 9,
  edit: 17,
  'make-folder': 7,
  move: 5,
  rename: 18,
  count: 12,
  find: 5,
  'find-and-read': 10,
  copy: 9,
  'folder-then-write': 15,
  'find-and-move': 7,
  gather: 54,
  'if-content': 55,
  'if-exists': 80,
}
