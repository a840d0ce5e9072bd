-- ARGV[2]: the sealed agent state; then input and content of each call, sealed.
local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
if M.turn == R.number and M.turn_fence == R.fence then return commit({k = 'TurnWritten', turn = R.number}) end
if M.stop then return commit({k = 'ReplyStopped', by = M.stop.actor, at = M.stop.at}) end
if R.number ~= M.turn + 1 then return commit({k = 'OutOfTurn', turn = M.turn}) end
local open = unfinished()
if #open > 0 then return commit({k = 'OpenCalls', calls = open}) end
local taken = {}
for _, call in ipairs(R.calls) do
  if taken[call.id] or redis.call('HEXISTS', REPLY, 'c:' .. call.id) == 1 then
    return commit({k = 'IdTaken', call_id = call.id})
  end
  taken[call.id] = true
end

record('turn', R.actor)
M.turn, M.turn_fence, M.tries, M.present = R.number, R.fence, 0, {}
present = M.present
for i, call in ipairs(R.calls) do
  present[i] = call.id
  C[call.id] = call
  call.by, call.at = R.actor, now
  call.input_tag, call.votes = R.tag, {}
  blobs['input:' .. call.id], blobs['content:' .. call.id] = ARGV[1 + 2 * i], ARGV[2 + 2 * i]
  local note = call.note
  call.note = nil
  if call.state == 'open' or call.state == 'task' then
    call.asked_at = now
    call.deadline = now + (call.state == 'open' and call.timeout_ms or call.task_timeout_ms)
  end
  if call.state == 'denied' then
    close(call, 'denied', 'deny', R.actor, note)
  else
    put(call, R.actor)
  end
end
agent = ARGV[2]
return commit({k = 'TurnWritten', turn = M.turn})
