local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
wrote = true
M.lease_until = now + R.lease_ms
return commit({k = 'Renewed', lease_until = M.lease_until, stop = M.stop ~= nil, granted = granted()})
