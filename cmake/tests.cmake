# tests/<room>/*_test.c: one executable and one ctest entry each. tests/fuzz/fuzz_*.c: libFuzzer targets, replayed over
# their corpus in ordinary builds. bench/scheduler/*.c: one benchmark program; each other bench/**/*.c: one.
enable_testing()
set(ALL_ROOMS prorata_daemon prorata_cli prorata_api prorata_reconciler prorata_journal prorata_backends prorata_replay
              prorata_simulation prorata_form prorata_scheduler prorata_db prorata_model prorata_base)

file(GLOB support CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
add_library(test_support STATIC ${support})
target_include_directories(test_support PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(test_support PUBLIC prorata_simulation)

file(GLOB unit_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*_test.c)
foreach(source ${unit_tests})
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(room ${folder} NAME)
  set(target ${room}_${name})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE test_support ${ALL_ROOMS})
  add_test(NAME ${room}/${name} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${room}/${name} PROPERTIES LABELS ${room} TIMEOUT 1200)
endforeach()

# Plans the benchmark's clusters.
foreach(target scheduler_budget_test scheduler_search_turns_test)
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/bench/scheduler/clusters.c)
endforeach()

# What takes too long for every change: make test-long.
function(long_test name target)
  add_test(NAME ${name} COMMAND ${target} ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 7200)
endfunction()
long_test(scheduler/invariants_50000 scheduler_invariants_test 1 50000)
long_test(scheduler/fair_share_1000000 scheduler_fair_share_test 1000000)
long_test(scheduler/share_tree_20000 scheduler_share_tree_test 1 20000)
long_test(scheduler/what_if_10000 scheduler_what_if_test 1 5000)
long_test(scheduler/quota_change_20000 scheduler_quota_change_test 1 20000)
long_test(scheduler/more_nodes_2000 scheduler_more_nodes_test 1 2000)
long_test(reconciler/plan_check_20000 reconciler_plan_check_test 20000)
long_test(simulation/random_documents_5000 simulation_random_documents_test 5000)

file(GLOB fuzz_targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source ${fuzz_targets})
  get_filename_component(name ${source} NAME_WE)
  if(SANITIZE STREQUAL "fuzz")
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    add_test(NAME fuzz/${name} COMMAND ${name} tests/fuzz/corpus/${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz)
  endif()
  target_link_libraries(${name} PRIVATE test_support ${ALL_ROOMS})
endforeach()

# ninja benches: no test needs them.
file(GLOB scheduler_bench CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/scheduler/*.c)
add_executable(bench_scheduler EXCLUDE_FROM_ALL ${scheduler_bench})
target_link_libraries(bench_scheduler PRIVATE ${ALL_ROOMS} m)
add_custom_target(benches DEPENDS bench_scheduler)

file(GLOB_RECURSE benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
list(FILTER benches EXCLUDE REGEX "/bench/scheduler/")
foreach(source ${benches})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(bench_${name} PRIVATE test_support ${ALL_ROOMS})
  add_dependencies(benches bench_${name})
endforeach()

# Stands in for NVIDIA's management library (--local-nvml).
add_library(fake_nvml MODULE ${CMAKE_SOURCE_DIR}/tests/support/fake_nvml/fake_nvml.c)
set_target_properties(fake_nvml PROPERTIES PREFIX "" OUTPUT_NAME fake_nvml)
target_compile_options(fake_nvml PRIVATE -Wframe-larger-than=131072)

# Makes the wall clock of a program jump (LD_PRELOAD).
add_library(shift_clock MODULE ${CMAKE_SOURCE_DIR}/tests/support/shift_clock/shift_clock.c)
set_target_properties(shift_clock PROPERTIES PREFIX "" OUTPUT_NAME shift_clock)
target_compile_options(shift_clock PRIVATE -fno-sanitize=all)
target_link_options(shift_clock PRIVATE -fno-sanitize=all)

# Hashes the passwords of tests at little cost (LD_PRELOAD).
add_library(quick_passwords MODULE ${CMAKE_SOURCE_DIR}/tests/support/quick_passwords/quick_passwords.c)
set_target_properties(quick_passwords PROPERTIES PREFIX "" OUTPUT_NAME quick_passwords)
target_compile_options(quick_passwords PRIVATE -fno-sanitize=all)
target_link_options(quick_passwords PRIVATE -fno-sanitize=all)

# Stands in for the Kubernetes API server.
file(GLOB fakekube CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fakekube/*.c)
add_executable(fakekube ${fakekube})
target_include_directories(fakekube PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(fakekube PRIVATE prorata_base ${CIVETWEB} PkgConfig::JANSSON PkgConfig::SODIUM PkgConfig::CRYPTO
                                       PkgConfig::ZLIB Threads::Threads m)
