/**
 * How many demonstrations of each family the warm start of the main job shows. Families of one plain call get next to
 * none, since reinforcement learning finds those by itself; deciding and gathering get most, since an agent that never
 * succeeds has nothing to learn from.
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 5,
  write: 6,
  edit: 16,
  'make-folder': 8,
  move: 5,
  rename: 20,
  count: 10,
  find: 4,
  'find-and-read': 8,
  copy: 10,
  'folder-then-write': 14,
  'find-and-move': 6,
  gather: 50,
  'if-content': 120,
  'if-exists': 40,
}
