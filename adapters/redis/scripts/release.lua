local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
local busy = running()
if #busy > 0 then return commit({k = 'OpenCalls', calls = busy}) end
if has_work() then return commit({k = 'WorkLeft', stop = M.stop ~= nil, granted = granted()}) end
record('release', R.actor)
M.state, M.lease_until, M.tries = 'parked', nil, 0
return commit({k = 'Parked'})
