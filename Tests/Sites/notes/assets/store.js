export const notes = { "/notes/1": "Water the beans.", "/notes/2": "Pick the peas." };
