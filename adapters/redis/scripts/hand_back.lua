local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
local busy = running()
if #busy > 0 then return commit({k = 'OpenCalls', calls = busy}) end
record('hand_back', R.actor)
M.tries = 0
ready()
return commit({k = 'HandedBack'})
