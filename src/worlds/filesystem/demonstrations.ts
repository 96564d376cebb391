/**
 * How many demonstrations of each family the warm start of the main job shows. Families of one plain call get next to
 * none, since reinforcement learning finds those by itself; deciding and gathering get most, since an agent that never
 * succeeds has nothing to learn from.
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 4,
  write: 6,
  edit: 16,
  'make-folder': 8,
  move: 5,
  rename: 12,
  count: 10,
  find: 4,
  'find-and-read': 6,
  copy: 8,
  'folder-then-write': 10,
  'find-and-move': 6,
  gather: 50,
  'if-content': 110,
  'if-exists': 40,
}
