-- ARGV[2]: the sealed agent state.
local early = load()
if early then return early end
if M.outcome and M.closed_fence == R.fence then
  return commit({k = 'Completed', outcome = M.outcome, next_reply = M.next_reply})
end
local gone = lost()
if gone then return commit(gone) end
if R.number ~= M.turn then return commit({k = 'OutOfTurn', turn = M.turn}) end
local open = unfinished()
if #open > 0 then return commit({k = 'OpenCalls', calls = open}) end
local moved = queue_moved()
if moved then return moved end
record('complete', R.actor)
close_reply(M.stop and 'interrupted' or R.outcome, R.fence)
agent = ARGV[2]
return commit({k = 'Completed', outcome = M.outcome, next_reply = M.next_reply})
