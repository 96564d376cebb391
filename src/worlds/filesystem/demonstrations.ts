/**
 * How many demonstrations of each family the warm start of the main job shows. Families of one plain call get next to
 * none, since reinforcement learning finds those by itself; deciding, counting and gathering get most, since an agent
 * that never succeeds has nothing to learn from.
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 5,
  write: 10,
  edit: 20,
  'make-folder': 8,
  move: 8,
  rename: 14,
  count: 24,
  find: 6,
  'find-and-read': 8,
  copy: 12,
  'folder-then-write': 14,
  'find-and-move': 10,
  gather: 50,
  'if-content': 40,
  'if-exists': 40,
}
