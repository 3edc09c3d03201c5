# Builds the pages' bundle, in two steps that run only when their inputs changed:
#   cmake -DSTEP=install ... -P bundle.cmake   `npm ci` of what package-lock.json pins, into FOLDER
#   cmake -DSTEP=bundle ...  -P bundle.cmake   the bundle as the C++ source OUTPUT
# Without Node, or where npm cannot reach its registry, OUTPUT says so, and asking for HTML fails with that message.
# Variables: SOURCE (reports/web), FOLDER, OUTPUT, WANTED (BUSBAR_HTML), NODE, NPM ("" where there is none).

set(stamp ${FOLDER}/installed.txt)

function(write_missing why)
  file(WRITE ${OUTPUT} "// Written by reports/web/bundle.cmake.
#include \"reports/web_bundle.h\"

namespace busbar {

WebBundle web_bundle() { return {.script = {}, .style = {}, .missing = R\"~(${why})~\"}; }

}  // namespace busbar
")
endfunction()

if(STEP STREQUAL "install")
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${FOLDER})
  # esbuild is asked for its binary as a package of its own: no script of a package needs to run.
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1
                  WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE failed OUTPUT_FILE ${FOLDER}/npm.log ERROR_FILE ${FOLDER}/npm.log)
  if(failed)
    message(WARNING "npm ci failed, see ${FOLDER}/npm.log: building without HTML pages")
    file(WRITE ${stamp} "`npm ci` failed when it was built; remove ${stamp} and build again")
  else()
    file(WRITE ${stamp} "")
  endif()
elseif(NOT WANTED)
  write_missing("it was built with BUSBAR_HTML=OFF")
elseif(NOT NODE OR NOT NPM)
  write_missing("Node.js and npm were not found when it was built; install them (Debian: nodejs, npm), then configure and build again")
else()
  file(READ ${stamp} why)
  if(why)
    write_missing("${why}")
    return()
  endif()
  execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${FOLDER} ${OUTPUT} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "reports/web/build.mjs failed")
  endif()
endif()
